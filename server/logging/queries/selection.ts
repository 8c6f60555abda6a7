import type { LogQuery } from '../../../apis/logging/v1alpha2/log-query.ts';
import { hasWord, textSearchOf } from '../../../apis/logging/v1alpha2/text-search.ts';
import { BEGINNING, instantOf } from '../instant.ts';
import type { NameFilter, Scope, Selection, TextFilter } from '../log-store.ts';

type Range = Selection['range'];

/** `now`: milliseconds since the epoch; the end of a range without `end_time`. */
export function rangeOf({ start_time: start, end_time: end }: LogQuery, now: number): Range {
  return {
    start: start === undefined ? BEGINNING : instantOf(start * 1000),
    // Inclusive of the last second, and of the current millisecond.
    end: instantOf(end === undefined ? now + 1 : (end + 1) * 1000),
  };
}

/** Undefined without a filter for namespaces. */
export function namespacesOf(query: LogQuery): NameFilter | undefined {
  return names(query.namespaces, query.namespace_query);
}

export function selectionOf(query: LogQuery, scope: Scope, range: Range): Selection {
  const namespaces = namespacesOf(query);
  const pods = names(query.pods, query.pod_query);
  const containers = names(query.containers, query.container_query);
  const text = textOf(query);
  const workloads = names(query.workloads, query.workload_query);
  return {
    scope,
    range,
    ...(namespaces ? { namespaces } : {}),
    ...(pods ? { pods } : {}),
    ...(containers ? { containers } : {}),
    ...(workloads ? { workloads } : {}),
    ...(text ? { text } : {}),
    ...(query.level ? { levels: query.level } : {}),
  };
}

/** Undefined without a text. */
export function textOf(query: LogQuery): TextFilter | undefined {
  const { mode, texts } = textSearchOf(query);
  const isByWords = mode === 'phrase' || mode === 'prefix';
  // A text without a word matches no line.
  const [first, ...more] = isByWords ? texts.filter(hasWord) : texts;
  if (first === undefined) return undefined;
  return { mode, texts: [first, ...more], caseSensitive: query.case === 'respect' };
}

function names(
  exact: readonly string[] | undefined,
  contains: readonly string[] | undefined,
): NameFilter | undefined {
  if (!exact && !contains) return undefined;
  return { ...(exact ? { exact } : {}), ...(contains ? { contains } : {}) };
}
