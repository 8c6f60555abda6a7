// Filter of pod log lines by text and level. log-selection.ts finds the pods and containers.
import { earlier, later } from '../../instant.ts';
import type { Instant, Selection, TextFilter } from '../../log-store.ts';
import { levelMatcher } from '../../matching/levels.ts';
import { lineMatcher, maxSearchedLength } from '../../matching/line-matcher.ts';

/** Returns whether a line matches. */
export type LineFilter = (line: string) => boolean;

/** `onPartialSearch` is called for each line that does not match in the part that was searched. */
export function lineFilter({ text, levels }: Selection, onPartialSearch?: () => void): LineFilter {
  const matchesText = text && textFilter(text, onPartialSearch);
  const matchesLevel = levels && levelMatcher(levels);
  if (!matchesText && !matchesLevel) return () => true;
  return (line) => (matchesLevel?.(line) ?? true) && (matchesText?.(line) ?? true);
}

function textFilter(text: TextFilter, onPartialSearch?: () => void): LineFilter {
  const matcher = lineMatcher(text);
  const maxLength = maxSearchedLength(text);
  return (line) => {
    if (line.length <= maxLength) return matcher.matches(line);
    // The newline prevents a match of `$` at the end of the searched part.
    if (matcher.matches(`${line.slice(0, maxLength)}\n`)) return true;
    onPartialSearch?.();
    return false;
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
