import { earlier, later } from '../../../instant.ts';
import type { Instant, Selection, TextFilter } from '../../../log-store.ts';
import { levelMatcher } from '../../../matching/levels.ts';
import { lineMatcher, lookableLength } from '../../../matching/line-matcher.ts';

/** Whether a line says what the selection asks for; times and names are looked at elsewhere. */
export type LineFilter = (text: string) => boolean;

/** `shortened` is called for each line that was only searched in part, because the pattern is too costly for all of it. */
export function lineFilter({ text, levels }: Selection, shortened: () => void): LineFilter {
  const matcher = text && lookingMatcher(text, shortened);
  const hasLevel = levels && levelMatcher(levels);
  if (!matcher && !hasLevel) return () => true;
  return (line) => (hasLevel?.(line) ?? true) && (matcher?.(line) ?? true);
}

function lookingMatcher(text: TextFilter, shortened: () => void): LineFilter {
  const matcher = lineMatcher(text);
  const most = lookableLength(text);
  return (line) => {
    if (line.length <= most) return matcher.matches(line);
    shortened();
    // The newline keeps the end of a pattern from matching where the line was only cut.
    return matcher.matches(`${line.slice(0, most)}\n`);
  };
}

/** The first instant of which a namespace's lines may be seen. */
export function beginOf({ scope, range }: Selection): (namespace: string) => Instant {
  if (scope.everything) return () => range.start;
  const since = new Map(scope.namespaces.map(({ name, since }) => [name, since]));
  return (namespace) => {
    // A namespace that is not in the scope has no lines at all.
    return later(since.get(namespace) ?? range.end, range.start);
  };
}

/** The first instant of which any lines may be seen. */
export function earliestOf({ scope, range }: Selection): Instant {
  if (scope.everything) return range.start;
  const first = scope.namespaces.reduce((first, { since }) => earlier(first, since), range.end);
  return later(first, range.start);
}
