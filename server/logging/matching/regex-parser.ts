// From the text of a regular expression to the tree of its syntax, or to words for who wrote it in another dialect.
// Owns what a text may look like; regex-dialect.ts says what of that is supported.
import { type AST, RegExpParser, RegExpSyntaxError } from '@eslint-community/regexpp';

/** Throws an Error whose message says what is wrong. */
export function parseRegex(text: string): AST.Pattern {
  const plain = withNeededEscapes(text);
  try {
    return new RegExpParser().parsePattern(plain, 0, plain.length, { unicode: true });
  } catch (error) {
    if (!(error instanceof RegExpSyntaxError)) throw error;
    // The library repeats the whole pattern before its reason.
    const reason = error.message.slice(error.message.lastIndexOf(': ') + 2);
    throw new Error(WORDS[reason]?.(plain, error.index) ?? reason, { cause: error });
  }
}

/** People escape more than they have to (`\-`, `\"`), and all other dialects take the character as it stands. */
function withNeededEscapes(text: string): string {
  return text.replaceAll(/\\([^])/g, (pair, character: string) =>
    /[ !"#%&',\-:;<=>@_`~]/.test(character) ? `\\x${character.charCodeAt(0).toString(16)}` : pair,
  );
}

/** Better words for reasons of the library; `index` is where it stopped. */
const WORDS: Readonly<Record<string, (text: string, index: number) => string>> = {
  'Invalid escape': (text, index) => {
    const [escape = ''] = /^\\.?/su.exec(text.slice(text.lastIndexOf('\\', index - 1))) ?? [];
    if (escape === '\\') return 'a backslash at the end stands for nothing; \\\\ is the character';
    return /\d/.test(escape)
      ? `a reference to a group (${escape}) is not supported`
      : `the escape ${escape} is not supported`;
  },
  'Invalid group': (text, index) => {
    const [group = ''] = /^\([^)]{0,20}\)?/u.exec(text.slice(index - 1)) ?? [];
    if (/^\(\?P?[<']/.test(group)) return `a group with a name (${group}) is not supported`;
    if (/^\(\?[a-zA-Z-]+\)/.test(group)) {
      const cure = group.includes('i') ? '; the parameter case says whether case counts' : '';
      return `flags within the pattern (${group}) are not supported${cure}`;
    }
    return `such a group (${group}) is not supported`;
  },
  'Lone quantifier brackets': (text, index) => {
    const [posix] = /\[:\w{1,10}:\]$/.exec(text.slice(0, index)) ?? [];
    return posix === undefined ? bracket() : `a set by name (${posix}) is not supported`;
  },
  'Incomplete quantifier': bracket,
  'Unterminated character class': () => 'a set begins with [ and does not end; \\[ is the character',
  'Unterminated group': () => 'a group begins with ( and does not end; \\( is the character',
  "Unmatched ')'": () => 'a group ends with ) and has not begun; \\) is the character',
  'Range out of order in character class': () => 'a range in a set ends before its beginning',
  'Invalid character class': () => 'a range in a set has an end that is no character; \\- is the character',
  'numbers out of order in {} quantifier': () => 'a repetition {m,n} wants more at least than at most',
  'Invalid property name': () => 'a Unicode property (\\p) is not supported',
  'Invalid unicode escape': () => '\\u needs four hexadecimal digits, or {…} around the code of a character',
  'Invalid capture group name': namedGroup,
  'Duplicate capture group name': namedGroup,
  'Invalid named reference': namedReference,
  'Invalid named capture referenced': namedReference,
  'Nothing to repeat': () => 'a repetition (*, +, ?, {m,n}) has nothing before it to repeat; anything is .*',
};

function bracket(): string {
  return 'a bracket that is meant as the character has to be escaped: \\{, \\}, \\[, \\]';
}

function namedGroup(): string {
  return 'a group with a name is not supported';
}

function namedReference(): string {
  return 'a reference to a group (\\k) is not supported';
}
