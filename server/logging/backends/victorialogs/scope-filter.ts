// The caller's scope as a filter of LogsQL: namespaces with their creation times.
import type { NameFilter, Scope } from '../../log-store.ts';
import { nameMatcher } from '../../matching/name-filter.ts';
import { ALL, anyOf, isOneOf, type Range, since } from './logsql.ts';

/** Of a scope with a list, the requested namespaces. */
export function narrowedScope(scope: Scope, requested: NameFilter | undefined): Scope {
  if (scope.everything) return scope;
  const isRequested = nameMatcher(requested);
  return { everything: false, namespaces: scope.namespaces.filter(({ name }) => isRequested(name)) };
}

/** Undefined when the caller may read nothing in the range. */
export function scopeFilter(field: string, scope: Scope, { start, end }: Range): string | undefined {
  if (scope.everything) return ALL;
  const readable = scope.namespaces.filter((each) => each.since < end);
  // Few namespaces are created within the range; all others make one list.
  const older = readable.filter((each) => each.since <= start).map(({ name }) => name);
  const newer = readable.filter((each) => each.since > start);
  const parts = [...(older.length > 0 ? [isOneOf(field, older)] : []), ...groupedFilters(field, newer)];
  return parts.length === 0 ? undefined : anyOf(parts);
}

type Namespace = Extract<Scope, { everything: false }>['namespaces'][number];

/**
 * VictoriaLogs tries the alternatives one by one on each block of records. Groups of √n names take dozens of steps where
 * a flat list takes thousands.
 */
function groupedFilters(field: string, namespaces: readonly Namespace[]): string[] {
  const size = Math.max(1, Math.ceil(Math.sqrt(namespaces.length)));
  const groups = Array.from({ length: Math.ceil(namespaces.length / size) }, (_, index) =>
    namespaces.slice(index * size, (index + 1) * size),
  );
  return groups.map((group) => {
    const names = group.map(({ name }) => name);
    const filters = group.map((each) => `(${isOneOf(field, [each.name])} ${since(each.since)})`);
    return group.length === 1 ? filters.join('') : `(${isOneOf(field, names)} ${anyOf(filters)})`;
  });
}
