// A merge sort that yields to the event loop between time slices.
import type { TimeSlices } from './time-slicer.ts';

/** Number of items per run. Sorting a run takes about 10 ms at 1 µs per comparison. */
const RUN = 1_024;
/** Comparisons between checks of the time slice. */
const STEPS = 256;

/** Returns a new sorted array. The sort is stable. */
export async function mergeSort<Item>(
  items: readonly Item[],
  compare: (left: Item, right: Item) => number,
  slices: TimeSlices,
): Promise<Item[]> {
  let runs: Item[][] = [];
  for (let at = 0; at < items.length; at += RUN) {
    if (slices.spent) await slices.next();
    runs.push(items.slice(at, at + RUN).sort(compare));
  }
  while (runs.length > 1) {
    const joined: Item[][] = [];
    for (let at = 0; at < runs.length; at += 2)
      joined.push(await merged(runs[at] ?? [], runs[at + 1] ?? [], compare, slices));
    runs = joined;
  }
  return runs[0] ?? [];
}

/** Returns a new array of the items of two sorted arrays. The merge is stable. */
export async function merged<Item>(
  left: readonly Item[],
  right: readonly Item[],
  compare: (left: Item, right: Item) => number,
  slices: TimeSlices,
): Promise<Item[]> {
  const all: Item[] = [];
  let at = 0;
  for (const item of right) {
    for (let one = left[at]; one !== undefined && compare(one, item) <= 0; one = left[++at]) {
      all.push(one);
      if (all.length % STEPS === 0 && slices.spent) await slices.next();
    }
    all.push(item);
    if (all.length % STEPS === 0 && slices.spent) await slices.next();
  }
  return all.concat(left.slice(at));
}
