// Texts that a line has to hold for words or a pattern to be found in it, as a filter that costs the store little: it
// looks for plain texts one after the other, in all the ways that they may be written. It may let too many lines
// through, never too few.
import { wordsOf } from '../../../../../apis/logging/v1alpha2/text-search.ts';
import type { TextFilter } from '../../../log-store.ts';
import { foldedCharacter } from '../../../matching/character-ranges.ts';
import { literal } from '../../../matching/re2.ts';
import { type Item, parsePattern } from '../../../matching/regex-dialect.ts';
import { allOf, eitherOf, matches } from './logsql.ts';

/** Characters in a row, each with the forms that it may have in a line. */
type Piece = readonly (readonly string[])[];

/** Texts that one piece may stand for: each costs the store a look at every line. */
const MAX_TEXTS = 9;
/** Of each text that is looked for; the first one rules most lines out. */
const MAX_PIECES = 3;

/** Undefined when nothing is known, or when the pattern itself costs no more. */
export function requiredFilter(
  field: string,
  { mode, texts, caseSensitive }: TextFilter,
): string | undefined {
  if (caseSensitive && mode === 'substring') return undefined;
  const each = texts.map((text) => longestOf(runsOf(mode, text).map((run) => piecesOf(run, caseSensitive))));
  if (each.some((pieces) => pieces.length === 0)) return undefined;
  return eitherOf(each.map((pieces) => allOf(pieces.map((piece) => holds(field, piece)))));
}

const END = 3;

/** A line with one of the words holds how one begins, and how one ends. */
export function anyOf(field: string, words: readonly string[]): string {
  // What holds a longer word holds the one that it begins with.
  const short = words.filter((word) => !words.some((other) => other !== word && word.startsWith(other)));
  const parts = [short, short.map((word) => word.slice(-END))].map((texts) => {
    const forms = texts.flatMap((text) => textsOf(piecesOf(text, false)[0] ?? []));
    return matches(field, forms.map(literal).join('|'));
  });
  return allOf(parts);
}

/** The characters that may stand in place of this one when case is ignored, itself among them. */
export function formsOf(character: string): string[] {
  return foldedCharacter(character.codePointAt(0) ?? 0).map(([code]) => String.fromCodePoint(code));
}

function runsOf(mode: TextFilter['mode'], text: string): string[] {
  if (mode === 'regex') return requiredRuns(text).filter((run) => run.length > 1);
  return (mode === 'substring' ? [text] : wordsOf(text)).flatMap((part) => runsIn(Array.from(part, plain)));
}

/** Runs of plain characters of the pattern, where there is no alternative to it. */
function requiredRuns(pattern: string): string[] {
  const [only, ...more] = parsePattern(pattern).branches;
  if (!only || more.length > 0) return [];
  return runsIn(only.items.map(plainItem));
}

function plainItem(item: Item): string | undefined {
  return item.kind === 'character' ? plain(String.fromCodePoint(item.code)) : undefined;
}

/** Undefined for what the store cannot look for. */
function plain(character: string): string | undefined {
  return character === '\0' || /\p{Surrogate}/u.test(character) ? undefined : character;
}

/** What stands between the gaps. */
function runsIn(characters: readonly (string | undefined)[]): string[] {
  const runs = [''];
  for (const character of characters) {
    if (character === undefined) runs.push('');
    else runs[runs.length - 1] += character;
  }
  return runs.filter((run) => run !== '');
}

/** One after the other, each as long as it may be. */
function piecesOf(run: string, caseSensitive: boolean): Piece[] {
  const pieces: (readonly string[])[][] = [[]];
  let texts = 1;
  for (const character of run) {
    const forms = caseSensitive ? [character] : formsOf(character);
    if (texts * forms.length > MAX_TEXTS) {
      pieces.push([]);
      texts = 1;
    }
    texts *= forms.length;
    pieces.at(-1)?.push(forms);
  }
  return pieces;
}

/** Of several words some of each rather than all of one. */
function longestOf(runs: readonly (readonly Piece[])[]): Piece[] {
  const placed = runs.flatMap((pieces) => pieces.map((piece, place) => ({ piece, place })));
  const long = placed.filter(({ piece }) => piece.length > 1);
  return (long.length > 0 ? long : placed)
    .toSorted((left, right) => right.piece.length - left.piece.length || left.place - right.place)
    .slice(0, MAX_PIECES)
    .map(({ piece }) => piece);
}

/**
 * The store has a short cut for alternatives of plain texts, which is lost when neighbours begin alike or are a single
 * character: then the compiler of patterns makes sets of them that ignore case.
 */
function holds(field: string, piece: Piece): string {
  const first = piece.findIndex((forms) => forms.length > 1);
  if (first === -1) return matches(field, literal(piece.flat().join('')));
  if (first < piece.length - 1) return matches(field, textsOf(piece).map(literal).join('|'));
  if (first > 0) return holds(field, piece.slice(0, first));
  return eitherOf(textsOf(piece).map((form) => matches(field, literal(form))));
}

/** The first character that has several forms changes from each text to the next. */
function textsOf(piece: Piece): string[] {
  const first = piece.findIndex((forms) => forms.length > 1);
  const [before, forms = [], behind] = [piece.slice(0, first), piece[first], piece.slice(first + 1)];
  const ends = behind.reduce<readonly string[]>(
    (texts, next) => texts.flatMap((text) => next.map((form) => `${text}${form}`)),
    [''],
  );
  const begin = before.flat().join('');
  return ends.flatMap((end) => forms.map((form) => `${begin}${form}${end}`));
}
