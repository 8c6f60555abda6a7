// Facets of a list: numbers of objects by status, namespace, kind of the owner, or label value.
import type { ObjectIdentity } from '../../cache/resource-cache.ts';
import { mergeSort } from '../../concurrency/merge-sort.ts';
import type { TimeSlices } from '../../concurrency/time-slicer.ts';
import type { ObjectFacts } from '../object-facts.ts';

/** Counts by value, for each facet. Objects without a value are not counted. */
export type Facets = Readonly<Record<string, Readonly<Record<string, number>>>>;

/** Maximum number of values of a facet; the most frequent ones are returned. */
export const MAX_VALUES = 1000;
/** Maximum number of facets whose counts are kept for a list. */
const MAX_KEPT = 8;
/** Mean number of objects with the same value, at least, of counts that are kept. */
const MIN_OBJECTS_OF_VALUE = 64;

type Identities = Iterable<ObjectIdentity<ObjectFacts>> & { readonly length: number };
type Read = (object: ObjectIdentity<ObjectFacts>) => readonly string[];
/** Numbers of objects by value. */
type Counts = Map<string, number>;

const READS: Readonly<Record<string, Read>> = {
  // An array is made only for an object with several statuses.
  status: ({ facts: { status } }) => (status.length > 1 ? status.slice(0, 1) : status),
  namespace: ({ namespace }) => [namespace],
  ownerKind: ({ facts }) => [...new Set(facts.owners.map(({ kind }) => kind))],
};

/** The counts of lists by facet, so that a change of a long list costs nothing for its other objects. */
const known = new WeakMap<Identities, Map<string, Counts>>();

/** `names`: valid facets, for instance `status` or `label:app`. */
export async function facetsOf(
  objects: Identities,
  names: readonly string[],
  slices: TimeSlices,
): Promise<Facets> {
  const facets: [name: string, counts: Readonly<Record<string, number>>][] = [];
  for (const name of new Set(names)) {
    const counts = known.get(objects)?.get(name) ?? (await countsOf(objects, name, slices));
    // `followFacets` can change the counts while this function yields.
    const values = [...counts];
    keep(objects, name, counts);
    facets.push([name, await mostFrequent(values, slices)]);
  }
  return Object.fromEntries(facets);
}

async function countsOf(objects: Identities, name: string, slices: TimeSlices): Promise<Counts> {
  const read = readerOf(name);
  const counts: Counts = new Map();
  for (const object of objects) {
    for (const value of read(object)) add(counts, value, 1);
    if (slices.spent) await slices.next();
  }
  return counts;
}

function keep(objects: Identities, name: string, counts: Counts): void {
  const facets = known.get(objects) ?? new Map<string, Counts>();
  if (facets.size < MAX_KEPT && isSmall(counts, objects)) known.set(objects, facets.set(name, counts));
}

/** Returns true if the counts need little memory compared with the list. */
function isSmall(counts: Counts, objects: Identities): boolean {
  return counts.size * MIN_OBJECTS_OF_VALUE <= objects.length;
}

/** Moves the counts from `before` to `after`, which has the objects `added` in place of the objects `removed`. */
export function followFacets(
  before: Identities,
  after: Identities,
  removed: Iterable<ObjectIdentity<ObjectFacts>>,
  added: Iterable<ObjectIdentity<ObjectFacts>>,
): void {
  const facets = known.get(before);
  if (!facets) return;
  known.delete(before);
  for (const [name, counts] of facets) {
    const read = readerOf(name);
    for (const object of removed) for (const value of read(object)) add(counts, value, -1);
    for (const object of added) for (const value of read(object)) add(counts, value, 1);
    if (!isSmall(counts, after)) facets.delete(name);
  }
  known.set(after, facets);
}

function add(counts: Counts, value: string, number: 1 | -1): void {
  if (value === '') return;
  const count = (counts.get(value) ?? 0) + number;
  if (count === 0) counts.delete(value);
  else counts.set(value, count);
}

function readerOf(name: string): Read {
  return READS[name] ?? labelReader(name.slice('label:'.length));
}

function labelReader(key: string): Read {
  return ({ labels }) => (Object.hasOwn(labels, key) ? [labels[key] ?? ''] : []);
}

async function mostFrequent(
  values: readonly (readonly [value: string, count: number])[],
  slices: TimeSlices,
): Promise<Readonly<Record<string, number>>> {
  const sorted = await mergeSort(values, ([a, m], [b, n]) => n - m || (a < b ? -1 : 1), slices);
  return Object.fromEntries(sorted.slice(0, MAX_VALUES));
}
