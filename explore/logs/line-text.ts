// The text of a line as nodes: matches are marked, terminal colours become classes, and characters that would change
// or hide other text are shown by name. A line never becomes HTML.
import { type ComponentChildren, h } from 'preact';

/** A terminal sequence (ECMA-48), or one control, bidirectional or invisible character. */
const SPECIAL =
  // oxlint-disable-next-line no-control-regex -- it finds control characters
  /\u001b\[([0-9;]*)m|[\0-\u0008\u000a-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]/gu;
const COLOURS = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'];

/** Maximum number of elements of a line: each special character, colour and match is one, and many lines are visible. */
const MAX_NODES = 300;
/** Maximum number of shown members of a line. */
const MAX_FIELDS = 200;

interface Part {
  readonly begin: number;
  readonly end: number;
  /** Undefined for a terminal colour, which has no text. */
  readonly text: string | undefined;
  readonly style: string | undefined;
}

export interface LineTextProps {
  readonly text: string;
  readonly highlights?: readonly (readonly [number, number])[] | undefined;
  /** Maximum number of characters. */
  readonly limit: number;
}

export function LineText({ text, highlights = [], limit }: LineTextProps): ComponentChildren {
  const shown = text.length > limit ? text.slice(0, limit) : text;
  const nodes: ComponentChildren[] = [];
  let next = 0;
  let shownTo = 0;
  for (const part of partsOf(shown)) {
    if (nodes.length >= MAX_NODES) break;
    if (part.text === undefined) {
      shownTo = part.end;
      continue;
    }
    let begin = part.begin;
    while (begin < part.end && nodes.length < MAX_NODES) {
      while ((highlights[next]?.[1] ?? Infinity) <= begin) next++;
      const [from, to] = highlights[next] ?? [Infinity, Infinity];
      const isMatch = from <= begin;
      const end = Math.min(part.end, isMatch ? to : from);
      // A special character is shown whole.
      const piece = part.style === 'special' ? part.text : shown.slice(begin, end);
      nodes.push(nodeOf(piece, part.style, isMatch));
      begin = part.style === 'special' ? part.end : end;
    }
    shownTo = begin;
  }
  if (text.length > shownTo)
    nodes.push(h('span', { class: 'special' }, `… ${text.length - shownTo} more characters`));
  return nodes;
}

function nodeOf(text: string, style: string | undefined, isMatch: boolean): ComponentChildren {
  const styled = style === undefined ? text : h('span', { class: style }, text);
  return isMatch ? h('mark', {}, styled) : styled;
}

function* partsOf(text: string): Generator<Part> {
  let begin = 0;
  let style: string | undefined;
  for (const { 0: match, 1: codes, index } of text.matchAll(SPECIAL)) {
    if (index > begin) yield { begin, end: index, text: text.slice(begin, index), style };
    const end = index + match.length;
    if (codes !== undefined) style = styleOf(codes, style);
    yield { begin: index, end, text: codes === undefined ? nameOf(match) : undefined, style: 'special' };
    begin = end;
  }
  if (begin < text.length) yield { begin, end: text.length, text: text.slice(begin), style };
}

/** The last foreground colour of a sequence. `0` and nothing reset it. */
function styleOf(codes: string, before: string | undefined): string | undefined {
  let style = before;
  for (const code of codes.split(';').map(Number)) {
    if (code === 0 || code === 39) style = undefined;
    else if (code >= 30 && code <= 37) style = `ansi-${COLOURS[code - 30]}`;
    else if (code >= 90 && code <= 97) style = `ansi-${COLOURS[code - 90]}`;
  }
  return style;
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
    const value: unknown = JSON.parse(line.slice(begin));
    if (typeof value !== 'object' || value === null) return [];
    const members = Object.entries(value).slice(0, MAX_FIELDS);
    return members.map(([name, member]) => [
      name,
      typeof member === 'string' ? member : JSON.stringify(member),
    ]);
  } catch {
    return [];
  }
}
