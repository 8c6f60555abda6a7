// The words of a line, by the word boundaries of the platform's Unicode library; written without a look at
// server/logging/matching, which it judges.

const segmenter = new Intl.Segmenter('en', { granularity: 'word' });

/** One word each, where the library has words of a dictionary. */
const ONE_EACH = /[\p{Script=Han}\p{Script=Hiragana}]/u;
/** Where the library has several, of a dictionary, and Lucene one. */
const SOUTH_EAST_ASIAN = /^[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
/** From the first picture on: the library lets a skin colour go with the space before it. */
const EMOJI = /[\p{Extended_Pictographic}\p{Emoji_Modifier}].*/su;
/** One word each: where the library has a flag of two. */
const FLAG = /^\p{Regional_Indicator}/u;
/** Connectors alone join nothing. */
const SAYS_SOMETHING = /[\p{Alphabetic}\p{N}]/u;

const remembered = new Map<string, readonly string[]>();

export function words(line: string): readonly string[] {
  let found = remembered.get(line);
  if (found === undefined) {
    found = read(line);
    remembered.set(line, found);
  }
  return found;
}

function read(line: string): string[] {
  const found: string[] = [];
  let goesOn = false;
  for (const { segment, isWordLike } of segmenter.segment(line)) {
    const isSouthEastAsian = SOUTH_EAST_ASIAN.test(segment);
    if (ONE_EACH.test(segment)) found.push(...(segment.match(/.\p{M}*/gsu) ?? []));
    else if (isSouthEastAsian && goesOn) found.push(`${found.pop()}${segment}`);
    else if (FLAG.test(segment)) found.push(...(segment.match(/.\p{M}*/gsu) ?? []));
    else if (isWordLike === true && SAYS_SOMETHING.test(segment)) found.push(segment);
    else found.push(...(EMOJI.exec(segment) ?? []));
    goesOn = isSouthEastAsian;
  }
  return found;
}
