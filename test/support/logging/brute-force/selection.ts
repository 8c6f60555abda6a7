// Reference implementation of the filters of log queries: a predicate for log records.
import type { LogRecord } from '../../../../hack/log-stores/record.ts';
import { podPatterns } from '../../../../server/logging/matching/workload-names.ts';
import type { NameFilter, Scope, Selection } from '../../../../server/logging/store/log-store.ts';
import { levelsOf } from './levels.ts';
import { textMatcher } from './text.ts';

export function selects(selection: Selection): (record: LogRecord) => boolean {
  const { scope, range, namespaces, pods, containers, workloads, text, levels } = selection;
  const since = sinceOf(scope);
  const says = text === undefined ? () => true : textMatcher(text);
  const isNamespace = memoized(named(namespaces));
  const isContainer = memoized(named(containers));
  const isOfPods = named(pods);
  const isOfWorkloads = generated(workloads);
  const isPod = memoized((name) => isOfPods(name) && isOfWorkloads(name));
  return ({ time, log, kubernetes: { namespace_name, pod_name, container_name } }) =>
    time >= range.start &&
    time < range.end &&
    time >= since(namespace_name) &&
    isNamespace(namespace_name) &&
    isPod(pod_name) &&
    isContainer(container_name) &&
    (levels === undefined || levelsOf(log).some((level) => levels.includes(level))) &&
    says(log);
}

/** Sorts after every time. */
const NEVER = '~';

function sinceOf(scope: Scope): (namespace: string) => string {
  if (scope.everything) return () => '';
  const since = new Map(scope.namespaces.map((namespace) => [namespace.name, namespace.since]));
  return (namespace) => since.get(namespace) ?? NEVER;
}

function named({ exact, contains }: NameFilter = {}): (name: string) => boolean {
  return (name) =>
    (exact === undefined || exact.includes(name)) &&
    (contains === undefined || contains.some((part) => asciiLowerCase(name).includes(asciiLowerCase(part))));
}

function generated({ exact, contains }: NameFilter = {}): (pod: string) => boolean {
  const byName = exact && oneOf(exact.map((name) => ({ exact: [name] })));
  const byPart = contains && oneOf(contains.map((part) => ({ contains: [part] })));
  return (pod) => (byName?.(pod) ?? true) && (byPart?.(pod) ?? true);
}

/** One expression for each filter: one for a thousand names takes seconds. */
function oneOf(workloads: readonly NameFilter[]): (pod: string) => boolean {
  const patterns = workloads.flatMap(podPatterns).map((pattern) => new RegExp(`^(?:${pattern})$`, 'u'));
  return (pod) => patterns.some((pattern) => pattern.test(pod));
}

/** Memoized: thousands of records have the same few names. */
function memoized(tell: (name: string) => boolean): (name: string) => boolean {
  const results = new Map<string, boolean>();
  return (name) => {
    const known = results.get(name) ?? tell(name);
    results.set(name, known);
    return known;
  };
}

function asciiLowerCase(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}
