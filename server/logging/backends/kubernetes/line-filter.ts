// Filter of pod log lines by text, level and start of the time range. log-selection.ts selects the pods and
// containers.

import { levelMatcher } from '../../matching/levels.ts';
import { lineMatcher, maxLineLength, maxMainThreadLength } from '../../matching/line-matcher.ts';
import type { LongLines } from '../../matching/long-lines.ts';
import { earlier, later } from '../../store/instant.ts';
import type { Instant, Selection, TextFilter } from '../../store/log-store.ts';

/** Returns whether a line matches; a promise for a long line, which a worker thread matches. */
export type LineFilter = (text: string) => boolean | Promise<boolean>;

export interface LineFilterOptions {
  readonly longLines: Pick<LongLines, 'matches'>;
  readonly signal: AbortSignal;
  /** Called if the filter searches only the start of a line, because the pattern is too expensive. */
  readonly onPartialSearch?: () => void;
}

export function lineFilter({ text, levels }: Selection, options: LineFilterOptions): LineFilter {
  const matchesText = text && textFilter(text, options);
  const matchesLevel = levels && levelMatcher(levels);
  if (!matchesText && !matchesLevel) return () => true;
  return (line) => (matchesLevel?.(line) ?? true) && (matchesText?.(line) ?? true);
}

/** Calls `accept` if the line matches. If `accepted` is a promise, so is the result: it resolves after the call. */
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

/**
 * Returns the start of the time range that the caller is allowed to read in a namespace: the start of the query, or the
 * creation of the namespace if that is later.
 */
export function beginByNamespace({ scope, range }: Selection): (namespace: string) => Instant {
  if (scope.everything) return () => range.start;
  const since = new Map(scope.namespaces.map(({ name, since }) => [name, since]));
  // For a namespace outside the scope the range is empty.
  return (namespace) => later(since.get(namespace) ?? range.end, range.start);
}

/** Minimum of beginByNamespace() over all namespaces of the scope. */
export function earliestBegin({ scope, range }: Selection): Instant {
  if (scope.everything) return range.start;
  const first = scope.namespaces.reduce((first, { since }) => earlier(first, since), range.end);
  return later(first, range.start);
}
