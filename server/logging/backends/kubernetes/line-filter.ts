// Filter of pod log lines by text, level and start of the time range. log-selection.ts selects the pods and
// containers.

import type { TimeSlices } from '../../../concurrency/time-slicer.ts';
import { levelMatcher } from '../../matching/levels.ts';
import { type LineMatcher, lineMatcher, PatternError } from '../../matching/line-matcher.ts';
import { earlier, later } from '../../store/instant.ts';
import type { Instant, Selection, TextFilter } from '../../store/log-store.ts';
import { newNotSupported } from '../../store/store-errors.ts';
import { STORE } from './container-log.ts';

/** Returns whether a line matches; a promise for a long line, which takes several time slices. */
export type LineFilter = (text: string) => boolean | Promise<boolean>;

interface LineFilterOptions {
  /** Of the caller. */
  readonly slices: TimeSlices;
  /** Called if the filter searches only the start of a line. */
  readonly onPartialSearch?: () => void;
}

/** Throws NotSupported for an expression that RE2 does not support. */
export function lineFilter({ text, levels }: Selection, options: LineFilterOptions): LineFilter {
  const matchesText = text && textFilter(text, options);
  const matchesLevel = levels && levelMatcher(levels);
  if (!matchesText && !matchesLevel) return () => true;
  return (line) => (matchesLevel?.(line) ?? true) && (matchesText?.(line) ?? true);
}

/** Calls `accept` if the line matches. If `accepted` or its result is a promise, so is the result: it resolves after the call. */
export function ifAccepted(
  accepted: ReturnType<LineFilter>,
  accept: () => void | Promise<void>,
): void | Promise<void> {
  if (accepted === true) return accept();
  if (accepted !== false) return accepted.then((is) => ifAccepted(is, accept));
}

function textFilter(text: TextFilter, { slices, onPartialSearch }: LineFilterOptions): LineFilter {
  const matcher = matcherOf(text);
  const { maxLength } = matcher;
  if (text.mode === 'substring') {
    // Case forms of a text can be longer than the text.
    const overlap = 2 * Math.max(...text.texts.map(({ length }) => length));
    return (line) =>
      line.length <= maxLength ? matcher.matches(line) : containsMatch(line, matcher, overlap, slices);
  }
  // Prevents a match at the cut that the whole line does not have: by `$`, or by a part of a word.
  const cut = text.mode === 'regex' ? '\n' : '_';
  return (line) => {
    if (line.length <= maxLength) return matcher.matches(line);
    onPartialSearch?.();
    return matcher.matches(`${line.slice(0, maxLength)}${cut}`);
  };
}

function matcherOf(text: TextFilter): LineMatcher {
  try {
    return lineMatcher(text);
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    throw newNotSupported(STORE, 'log_query', `${error.message}; see docs/log-queries.md`, error);
  }
}

/** Searches a long line in pieces. No match is longer than `overlap`. */
async function containsMatch(
  line: string,
  matcher: LineMatcher,
  overlap: number,
  slices: TimeSlices,
): Promise<boolean> {
  const { maxLength } = matcher;
  for (let begin = 0; begin < line.length; begin += maxLength) {
    if (matcher.matches(line.slice(begin, begin + maxLength + overlap))) return true;
    if (slices.spent) await slices.next();
  }
  return false;
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
