// The line filter of a selection: text and levels. Times and names are compared elsewhere.
import { earlier, later } from '../../../instant.ts';
import type { Instant, Selection, TextFilter } from '../../../log-store.ts';
import { levelMatcher } from '../../../matching/levels.ts';
import { lineMatcher, maxLineLength, maxMainThreadLength } from '../../../matching/line-matcher.ts';
import type { LongLines } from '../../../matching/long-lines.ts';

/** A promise for a long line, which a worker thread matches. */
export type LineFilter = (text: string) => boolean | Promise<boolean>;

export interface LineFilterOptions {
  readonly longLines: Pick<LongLines, 'matches'>;
  readonly signal: AbortSignal;
  /** Called for each line that is searched in part, because the pattern is too expensive for all of it. */
  readonly onPartialSearch?: () => void;
}

export function lineFilter({ text, levels }: Selection, options: LineFilterOptions): LineFilter {
  const matchesText = text && textFilter(text, options);
  const matchesLevel = levels && levelMatcher(levels);
  if (!matchesText && !matchesLevel) return () => true;
  return (line) => (matchesLevel?.(line) ?? true) && (matchesText?.(line) ?? true);
}

/** Calls `accept` if the filter accepts the line: before it returns, or before the promise resolves. */
export function ifAccepted(accepted: ReturnType<LineFilter>, accept: () => void): void | Promise<void> {
  if (accepted === true) accept();
  else if (accepted !== false) return accepted.then((is) => ifAccepted(is, accept));
}

function textFilter(text: TextFilter, { longLines, signal, onPartialSearch }: LineFilterOptions): LineFilter {
  const matcher = lineMatcher(text);
  const maxLength = maxLineLength(text);
  const inlineLength = maxMainThreadLength(text);
  return (line) => {
    if (line.length <= inlineLength) return matcher.matches(line);
    if (line.length <= maxLength) return longLines.matches(text, line, signal);
    onPartialSearch?.();
    // The newline prevents that `$` matches at the cut.
    return longLines.matches(text, `${line.slice(0, maxLength)}\n`, signal);
  };
}

/** The first instant that the caller may see, by namespace. */
export function beginByNamespace({ scope, range }: Selection): (namespace: string) => Instant {
  if (scope.everything) return () => range.start;
  const since = new Map(scope.namespaces.map(({ name, since }) => [name, since]));
  // No lines of a namespace outside the scope.
  return (namespace) => later(since.get(namespace) ?? range.end, range.start);
}

/** The first instant that the caller may see in any namespace. */
export function earliestBegin({ scope, range }: Selection): Instant {
  if (scope.everything) return range.start;
  const first = scope.namespaces.reduce((first, { since }) => earlier(first, since), range.end);
  return later(first, range.start);
}
