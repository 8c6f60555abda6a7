// The text of a line as nodes: matches are marked, terminal colours are removed, and characters that would change or hide
// other text are shown by name. A line never becomes HTML.
import { type ComponentChildren, h } from 'preact';

/** A colour of a terminal (ECMA-48), or one control, bidirectional or invisible character. */
const SPECIAL =
  // oxlint-disable-next-line no-control-regex -- it finds control characters
  /\u001b\[[0-9;]*m|[\0-\u0008\u000a-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]/gu;

/** Maximum number of marked matches of a line: each is an element, and many lines are visible. */
const MAX_MARKS = 200;
/** Maximum number of shown members of a line. */
const MAX_FIELDS = 200;

export interface LineTextProps {
  readonly text: string;
  readonly highlights?: readonly (readonly [begin: number, end: number])[] | undefined;
  /** Maximum number of characters. */
  readonly limit: number;
}

export function LineText({ text, highlights = [], limit }: LineTextProps): ComponentChildren {
  const shown = text.slice(0, limit);
  const marked = highlights.slice(0, MAX_MARKS).filter(([begin]) => begin < limit);
  let next = 0;
  const nodes: ComponentChildren[] = marked.flatMap(([begin, end]) => {
    const before = visible(shown.slice(next, begin));
    next = end;
    return [before, h('mark', {}, visible(shown.slice(begin, end)))];
  });
  nodes.push(visible(shown.slice(next)));
  if (text.length > limit) nodes.push(`… ${text.length - limit} more characters`);
  return nodes;
}

function visible(text: string): string {
  return text.replaceAll(SPECIAL, (special) => (special.length > 2 ? '' : nameOf(special)));
}

function nameOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code === 10) return '↵';
  if (code < 32) return String.fromCodePoint(0x2400 + code);
  return `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`;
}

/** The members of a line that is a JSON object; also behind a prefix, such as a time. */
export function fieldsIn(line: string): (readonly [name: string, value: string])[] {
  const begin = line.indexOf('{');
  if (begin === -1 || begin > 200 || line.length > 100_000) return [];
  try {
    const members = Object.entries(JSON.parse(line.slice(begin))).slice(0, MAX_FIELDS);
    return members.map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]);
  } catch {
    return [];
  }
}
