// Facets of a list: numbers of objects by status, namespace, kind of the owner, or label value.
import type { ObjectIdentity } from '../../cache/resource-cache.ts';
import { mergeSort } from '../../concurrency/merge-sort.ts';
import type { TimeSlices } from '../../concurrency/time-slicer.ts';
import type { ObjectFacts } from '../object-facts.ts';

/** Counts by value, for each facet. Objects without a value are not counted. */
export type Facets = Readonly<Record<string, Readonly<Record<string, number>>>>;

/** Maximum number of values of a facet; the most frequent ones are returned. */
export const MAX_VALUES = 1000;

type Read = (object: ObjectIdentity<ObjectFacts>) => readonly string[];

const READS: Readonly<Record<string, Read>> = {
  status: ({ facts }) => facts.status.slice(0, 1),
  namespace: ({ namespace }) => [namespace],
  ownerKind: ({ facts }) => [...new Set(facts.owners.map(({ kind }) => kind))],
};

/** `names`: valid facets, for instance `status` or `label:app`. */
export async function facetsOf(
  objects: readonly ObjectIdentity<ObjectFacts>[],
  names: readonly string[],
  slices: TimeSlices,
): Promise<Facets> {
  const facets: [name: string, counts: Readonly<Record<string, number>>][] = [];
  for (const name of new Set(names)) {
    const read = READS[name] ?? labelReader(name.slice('label:'.length));
    const counts = new Map<string, number>();
    for (const object of objects) {
      for (const value of read(object)) if (value !== '') counts.set(value, (counts.get(value) ?? 0) + 1);
      if (slices.spent) await slices.next();
    }
    facets.push([name, await mostFrequent(counts, slices)]);
  }
  return Object.fromEntries(facets);
}

function labelReader(key: string): Read {
  return ({ labels }) => (Object.hasOwn(labels, key) ? [labels[key] ?? ''] : []);
}

async function mostFrequent(
  counts: ReadonlyMap<string, number>,
  slices: TimeSlices,
): Promise<Readonly<Record<string, number>>> {
  const sorted = await mergeSort([...counts], ([a, m], [b, n]) => n - m || (a < b ? -1 : 1), slices);
  return Object.fromEntries(sorted.slice(0, MAX_VALUES));
}
