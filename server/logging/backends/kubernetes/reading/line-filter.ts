import { earlier, later } from '../../../instant.ts';
import type { Instant, Selection, TextFilter } from '../../../log-store.ts';
import { levelMatcher } from '../../../matching/levels.ts';
import { lengthAtOnce, lineMatcher, lookableLength } from '../../../matching/line-matcher.ts';
import type { LongLines } from '../../../matching/long-lines.ts';

/** Whether a line says what the selection asks for; times and names are looked at elsewhere. A long line takes a while. */
export type LineFilter = (text: string) => boolean | Promise<boolean>;

export interface LookOptions {
  readonly longLines: Pick<LongLines, 'matches'>;
  /** Ends the look at a long line. */
  readonly signal: AbortSignal;
  /** Called for each line that was only searched in part, because the pattern is too costly for all of it. */
  readonly shortened?: () => void;
}

export function lineFilter({ text, levels }: Selection, options: LookOptions): LineFilter {
  const matcher = text && textFilter(text, options);
  const hasLevel = levels && levelMatcher(levels);
  if (!matcher && !hasLevel) return () => true;
  return (line) => (hasLevel?.(line) ?? true) && (matcher?.(line) ?? true);
}

/** Calls `take` for a line that passes: before it returns, or before the promise resolves. */
export function whenPassed(passes: ReturnType<LineFilter>, take: () => void): void | Promise<void> {
  if (passes === true) take();
  else if (passes !== false) return passes.then((does) => whenPassed(does, take));
}

function textFilter(text: TextFilter, { longLines, signal, shortened }: LookOptions): LineFilter {
  const matcher = lineMatcher(text);
  const most = lookableLength(text);
  const atOnce = lengthAtOnce(text);
  return (line) => {
    if (line.length <= atOnce) return matcher.matches(line);
    if (line.length <= most) return longLines.matches(text, line, signal);
    shortened?.();
    // The newline keeps the end of a pattern from matching where the line was only cut.
    return longLines.matches(text, `${line.slice(0, most)}\n`, signal);
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
