import type { Instant, Selection } from '../../../log-store.ts';
import { levelMatcher } from '../../../matching/levels.ts';
import { lineMatcher } from '../../../matching/line-matcher.ts';

/** Whether a line says what the selection asks for; times and names are looked at elsewhere. */
export type LineFilter = (text: string) => boolean;

export function lineFilter({ text, levels }: Selection): LineFilter {
  const matcher = text && lineMatcher(text);
  const hasLevel = levels && levelMatcher(levels);
  if (!matcher && !hasLevel) return () => true;
  return (line) => (hasLevel?.(line) ?? true) && (matcher?.matches(line) ?? true);
}

/** The first instant of which a namespace's lines may be seen. */
export function beginOf({ scope, range }: Selection): (namespace: string) => Instant {
  if (scope.everything) return () => range.start;
  const since = new Map(scope.namespaces.map(({ name, since }) => [name, since]));
  return (namespace) => {
    // A namespace that is not in the scope has no lines at all.
    const seen = since.get(namespace) ?? range.end;
    return seen > range.start ? seen : range.start;
  };
}

/** The first instant of which any lines may be seen. */
export function earliestOf({ scope, range }: Selection): Instant {
  if (scope.everything) return range.start;
  const first = scope.namespaces.reduce((first, { since }) => (since < first ? since : first), range.end);
  return first > range.start ? first : range.start;
}
