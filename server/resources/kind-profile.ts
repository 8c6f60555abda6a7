// KindProfile: the selectable fields, sort keys and filters of lists of one kind. The profile extracts values from each
// object for filters, sorting and search.
import type { ObjectIdentity } from '../cache/resource-cache.ts';
import type { ListColumn } from './list-columns.ts';
import type { ObjectFacts } from './object-facts.ts';

export type Comparison<Facts> = (left: ObjectIdentity<Facts>, right: ObjectIdentity<Facts>) => number;

export interface KindProfile<Facts extends ObjectFacts> {
  /**
   * Extracts the facts of a parsed object. It must not throw, although the object is not validated. `raw`: the JSON of the
   * object, for the revision of a CustomResourceDefinition.
   */
  facts(object: unknown, raw?: Buffer): Facts;
  /** Fields of field selectors, in addition to `metadata.name` and `metadata.namespace`. */
  readonly fields: Readonly<Record<string, (object: ObjectIdentity<Facts>) => string>>;
  /** Sort keys, in addition to those of every kind, which take precedence. */
  readonly sortKeys: Readonly<Record<string, Comparison<Facts>>>;
  /** Why a printer column cannot be a sort key, by the key. */
  readonly unsortable?: ReadonlyMap<string, string>;
  /** The values of `status`; undefined if the kind has any number of them. */
  readonly statuses: readonly string[] | undefined;
  readonly listColumns: readonly ListColumn<Facts>[];
  /** Additional filters, by parameter: an object passes if it has one of the values of the parameter. */
  readonly filters: Readonly<Record<string, (facts: Facts) => readonly string[]>>;
}

/** Compares two values of the same type. */
export function ordered(left: string | number | bigint, right: string | number | bigint): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

export function comparing<Facts>(
  read: (object: ObjectIdentity<Facts>) => string | number | bigint,
): Comparison<Facts> {
  return (left, right) => ordered(read(left), read(right));
}

/** The sort keys of every kind. */
const COMMON_SORT_KEYS: Readonly<Record<string, Comparison<ObjectFacts>>> = {
  name: comparing(({ name }) => name),
  namespace: comparing(({ namespace }) => namespace),
  creationTimestamp: comparing(({ facts }) => facts.createdAt),
  createTime: comparing(({ facts }) => facts.createdAt),
  // An old object has a high age and an early creation time.
  age: (left, right) => ordered(right.facts.createdAt, left.facts.createdAt),
  status: comparing(({ facts }) => facts.status[0] ?? ''),
};

export function sortKeysOf(profile: Pick<KindProfile<never>, 'sortKeys'>): readonly string[] {
  return [...new Set([...Object.keys(COMMON_SORT_KEYS), ...Object.keys(profile.sortKeys)])];
}

/** Returns the comparison of a sort key. Equal objects are ordered by name, then by namespace. */
export function comparisonBy<Facts extends ObjectFacts>(
  { sortKeys }: Pick<KindProfile<Facts>, 'sortKeys'>,
  key: string,
): Comparison<Facts> {
  const keys = { ...sortKeys, ...COMMON_SORT_KEYS };
  const compare = Object.hasOwn(keys, key) ? keys[key] : undefined;
  if (!compare) throw new TypeError(`unknown sort key ${key}`);
  return (left, right) =>
    compare(left, right) || ordered(left.name, right.name) || ordered(left.key, right.key);
}
