// Proves that words are in a line: only ASCII, or an end of the line, is next to them. It finds all ASCII lines with the
// words, and some of the others; the rest takes the pattern of matching/line-pattern.ts, which knows all letters and is a
// hundred times as long.
import { classOf } from '../../../matching/characters.ts';
import { folded } from '../../../matching/letter-case.ts';
import { escaped, literal } from '../../../matching/re2.ts';
import { formsOf } from './required-text.ts';

export interface Evidence {
  /** Texts one of which most lines have, one at least; the store finds them far sooner than what the pattern finds. */
  readonly plain: readonly string[];
  /** RE2, for all of it. */
  readonly pattern: string;
}

/** `words`: as split by matching/; `goesOn`: the last one may be a prefix. Undefined where no proof is possible. */
export function evidenceOf(
  words: readonly string[],
  goesOn: boolean,
  caseSensitive: boolean,
): Evidence | undefined {
  if (words.length === 0 || !words.every(isSimple)) return undefined;
  return { plain: plainTexts(words, goesOn, caseSensitive), pattern: pattern(words, goesOn, caseSensitive) };
}

/** Words of other characters end by other rules. */
function isSimple(word: string): boolean {
  return Array.from(word).every((character) => character < '\u0080' || kindOf(character) !== undefined);
}

const BEFORE = [' ', '"'];
const BEHIND = [' ', '"', ')'];

/** Neighbours begin with different characters: for alternatives that do not, the store has no short cut. */
function plainTexts(words: readonly string[], goesOn: boolean, caseSensitive: boolean): string[] {
  const said = words.join(' ');
  const small = said.toLowerCase();
  const [first = ''] = small;
  // The text as given too: the lower case of İ is a different letter, and the upper case of that is yet another one.
  const forms = [small, small.toUpperCase(), `${first.toUpperCase()}${small.slice(first.length)}`, said];
  const own = caseSensitive ? [said] : [...new Set(forms)].filter((form) => folded(form) === folded(said));
  return (goesOn ? [''] : BEHIND).flatMap((behind) =>
    own.flatMap((form) => BEFORE.map((before) => `${before}${form}${behind}`)),
  );
}

function pattern(words: readonly string[], goesOn: boolean, caseSensitive: boolean): string {
  const each = words.map((word, index) => {
    const previous = words[index - 1];
    const said = caseSensitive ? literal(word) : inAnyCase(word);
    return `${previous === undefined ? begin(word) : gap(previous, word)}${said}`;
  });
  return `${each.join('')}${goesOn ? '' : end(words.at(-1) ?? '')}`;
}

function inAnyCase(word: string): string {
  return Array.from(word, (character) => {
    // A mark is among the forms of ι.
    const forms = formsOf(character).filter((form) => kindOf(form) === kindOf(character));
    return forms.length > 1 ? `[${forms.join('')}]` : literal(character);
  }).join('');
}

type Kind = 'letter' | 'digit' | 'underscore' | 'ideograph';

function kindOf(character: string | undefined): Kind | undefined {
  if (character === '_') return 'underscore';
  const found = classOf(character ?? '');
  return found === 'letter' || found === 'digit' || found === 'ideograph' ? found : undefined;
}

const firstOf = (word: string): Kind | undefined => kindOf(Array.from(word)[0]);
const lastOf = (word: string): Kind | undefined => kindOf(Array.from(word).at(-1));

/** What joins two of a kind, standing alone between them. */
const JOINERS: Partial<Record<Kind, string>> = { letter: ".':", digit: ".',;" };
const SAME: Partial<Record<Kind, RegExp>> = { letter: /[A-Za-z]/, digit: /[0-9]/ };

/** A set of the characters of ASCII that the other set does not have. */
function ascii(except: RegExp): string {
  const isMember = (code: number): boolean => code < 0x80 && !except.test(String.fromCharCode(code));
  const ranges: string[] = [];
  for (let first = 0; first < 0x80; first++) {
    if (!isMember(first)) continue;
    let last = first;
    while (isMember(last + 1)) last++;
    ranges.push(first === last ? escaped(first) : `${escaped(first)}-${escaped(last)}`);
    first = last;
  }
  return `[${ranges.join('')}]`;
}

/** No part of a word, and none of these either. */
function outside(joiners = ''): string {
  return ascii(new RegExp(`[0-9A-Za-z_${joiners}]`));
}

/** An ideograph is a word wherever it stands. */
function begin(word: string): string {
  const kind = firstOf(word);
  if (!kind || kind === 'ideograph') return '';
  const [joiners, same] = [JOINERS[kind], SAME[kind]];
  if (!joiners || !same) return `(?:^|${outside()})`;
  return `(?:^|${outside(joiners)}|(?:^|${ascii(same)})[${joiners}])`;
}

function end(word: string): string {
  const kind = lastOf(word);
  // What would belong to it is not ASCII.
  if (!kind || kind === 'ideograph') return `(?:$|${ascii(/[^\0-\x7f]/)})`;
  const [joiners, same] = [JOINERS[kind], SAME[kind]];
  if (!joiners || !same) return `(?:$|${outside()})`;
  return `(?:$|${outside(joiners)}|[${joiners}](?:$|${ascii(same)}))`;
}

/** Nothing that is a word, and enough to part them: a joiner alone between two of a kind would make them one. */
function gap(before: string, after: string): string {
  const [last, first] = [lastOf(before), firstOf(after)];
  const joiners = last && last === first ? JOINERS[last] : undefined;
  const parted = `(?:${outside(joiners)}|${outside()}${ascii(/[0-9A-Za-z]/)}*${outside()})`;
  return last === 'ideograph' || first === 'ideograph' ? `${parted}?` : parted;
}
