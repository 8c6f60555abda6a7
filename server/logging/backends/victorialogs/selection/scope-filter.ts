// The caller's scope as a filter. The store gets it beside the query, so that nothing in the query can widen it.
import type { Instant, NameFilter, Scope } from '../../../log-store.ts';
import { nameMatcher } from '../../../matching/name-filter.ts';
import { eitherOf, isOneOf, since } from './logsql.ts';

/** Every line of the range. */
export const ALL = '*';

export interface ScopeRequest {
  readonly field: string;
  readonly scope: Scope;
  readonly range: { readonly start: Instant; readonly end: Instant };
}

/** Of a scope that is a list, the namespaces that were asked for. */
export function narrowed(scope: Scope, wanted: NameFilter | undefined): Scope {
  if (scope.everything) return scope;
  const isWanted = nameMatcher(wanted);
  return { everything: false, namespaces: scope.namespaces.filter(({ name }) => isWanted(name)) };
}

/** Undefined when nothing in the range may be seen. Few namespaces begin within the range, so the rest is one list. */
export function scopeFilter({ field, scope, range }: ScopeRequest): string | undefined {
  if (scope.everything) return ALL;
  const visible = scope.namespaces.filter((each) => each.since < range.end);
  const whole = visible.filter((each) => each.since <= range.start).map(({ name }) => name);
  const later = visible.filter((each) => each.since > range.start);
  const parts = [...(whole.length > 0 ? [isOneOf(field, whole)] : []), ...grouped(field, later)];
  return parts.length === 0 ? undefined : eitherOf(parts);
}

type Begun = { readonly name: string; readonly since: Instant };

/**
 * The store tries one alternative after the other on each block of lines: first groups by name, then within the one
 * that the block belongs to, which is some dozens of steps in place of thousands.
 */
function grouped(field: string, namespaces: readonly Begun[]): string[] {
  const size = Math.max(1, Math.ceil(Math.sqrt(namespaces.length)));
  const groups = Array.from({ length: Math.ceil(namespaces.length / size) }, (_, index) =>
    namespaces.slice(index * size, (index + 1) * size),
  );
  return groups.map((group) => {
    const names = group.map(({ name }) => name);
    const each = group.map((begun) => `(${isOneOf(field, [begun.name])} ${since(begun.since)})`);
    return group.length === 1 ? each.join('') : `(${isOneOf(field, names)} ${eitherOf(each)})`;
  });
}
