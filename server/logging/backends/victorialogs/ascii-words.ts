// The pattern of matching/line-pattern.ts for words of ASCII, as it is for lines of nothing but ASCII. There it is a
// hundredth of its length, and what the store needs to get ready for the long one is more than most queries take.

const JOINERS = { letter: ".':", digit: ".',;" } as const;
const OUTSIDE = '[^0-9A-Z_a-z]';

/** `words`: of ASCII. `goesOn`: the last one may be the begin of a word. */
export function asciiPhrase(words: readonly string[], goesOn: boolean, caseSensitive: boolean): string {
  const each = words.map((word, index) => {
    const previous = words[index - 1];
    const itself = word.replace(/[^0-9A-Za-z_]/gu, '[$&]');
    // Only here: what ignores case takes all sets through all of Unicode.
    const said = caseSensitive ? itself : `(?i:${itself})`;
    return `${previous === undefined ? begin(word) : gap(previous, word)}${said}`;
  });
  return `${each.join('')}${goesOn ? '' : end(words.at(-1) ?? '')}`;
}

type Kind = keyof typeof JOINERS | undefined;

function kindOf(character: string | undefined): Kind {
  if (character === undefined || character === '_') return undefined;
  return /\d/.test(character) ? 'digit' : 'letter';
}

const OTHERS = { letter: '[^A-Za-z]', digit: '[^0-9]' } as const;

function begin(word: string): string {
  const kind = kindOf(word[0]);
  if (!kind) return `(?:^|${OUTSIDE})`;
  const joiner = JOINERS[kind];
  return `(?:^|[^0-9A-Z_a-z${joiner}]|(?:^|${OTHERS[kind]})[${joiner}])`;
}

function end(word: string): string {
  const kind = kindOf(word.at(-1));
  if (!kind) return `(?:$|${OUTSIDE})`;
  const joiner = JOINERS[kind];
  return `(?:$|[^0-9A-Z_a-z${joiner}]|[${joiner}](?:$|${OTHERS[kind]}))`;
}

/** Nothing that is a word, and enough to part them: a joiner alone between two of a kind would make them one. */
function gap(before: string, after: string): string {
  const [last, first] = [kindOf(before.at(-1)), kindOf(after[0])];
  const joiner = last && last === first ? JOINERS[last] : '';
  return `(?:[^0-9A-Z_a-z${joiner}]|${OUTSIDE}[^0-9A-Za-z]*${OUTSIDE})`;
}
