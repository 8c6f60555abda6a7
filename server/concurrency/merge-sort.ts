// A merge sort that yields to the event loop between time slices.
import type { TimeSlicer } from './time-slicer.ts';

/** Number of items per run. Sorting a run takes about 10 ms at 1 µs per comparison. */
const RUN = 1_024;
/** Comparisons between checks of the time slice. */
const STEPS = 256;

/** Returns a new sorted array. The sort is stable. */
export async function mergeSort<Item>(
  items: readonly Item[],
  compare: (left: Item, right: Item) => number,
  slicer: TimeSlicer,
): Promise<Item[]> {
  let runs: Item[][] = [];
  for (let at = 0; at < items.length; at += RUN) {
    if (slicer.spent) await slicer.next();
    runs.push(items.slice(at, at + RUN).sort(compare));
  }
  while (runs.length > 1) {
    const joined: Item[][] = [];
    for (let at = 0; at < runs.length; at += 2)
      joined.push(await merged(runs[at] ?? [], runs[at + 1] ?? [], compare, slicer));
    runs = joined;
  }
  return runs[0] ?? [];
}

/** Returns a new array of the items of two sorted arrays. The merge is stable. */
export async function merged<Item>(
  left: readonly Item[],
  right: readonly Item[],
  compare: (left: Item, right: Item) => number,
  slicer: TimeSlicer,
): Promise<Item[]> {
  const all: Item[] = [];
  let at = 0;
  for (const item of right) {
    for (let one = left[at]; one !== undefined && compare(one, item) <= 0; one = left[++at]) {
      all.push(one);
      if (all.length % STEPS === 0 && slicer.spent) await slicer.next();
    }
    all.push(item);
    if (all.length % STEPS === 0 && slicer.spent) await slicer.next();
  }
  return all.concat(left.slice(at));
}
