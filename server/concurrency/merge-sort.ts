// Sorts what may be very many without keeping the event loop: in short runs, which are then joined two by two.
import type { Turns } from './turns.ts';

/** Sorted in one go; some milliseconds where comparing takes a microsecond. */
const RUN = 1_024;
/** Compared in one go. */
const STEPS = 256;

/** A new list; what is equal stays in its order. */
export async function sortedInTurns<Item>(
  items: readonly Item[],
  compare: (left: Item, right: Item) => number,
  turns: Turns,
): Promise<Item[]> {
  let runs: Item[][] = [];
  for (let at = 0; at < items.length; at += RUN) {
    if (turns.spent) await turns.next();
    runs.push(items.slice(at, at + RUN).sort(compare));
  }
  while (runs.length > 1) {
    const joined: Item[][] = [];
    for (let at = 0; at < runs.length; at += 2)
      joined.push(await merged(runs[at] ?? [], runs[at + 1] ?? [], compare, turns));
    runs = joined;
  }
  return runs[0] ?? [];
}

async function merged<Item>(
  left: readonly Item[],
  right: readonly Item[],
  compare: (left: Item, right: Item) => number,
  turns: Turns,
): Promise<Item[]> {
  const all: Item[] = [];
  const [lefts, rights] = [left.values(), right.values()];
  let [one, other] = [lefts.next(), rights.next()];
  for (let steps = 1; !one.done || !other.done; steps++) {
    if (other.done || (!one.done && compare(one.value, other.value) <= 0)) {
      if (!one.done) all.push(one.value);
      one = lefts.next();
    } else {
      all.push(other.value);
      other = rights.next();
    }
    if (steps % STEPS === 0 && turns.spent) await turns.next();
  }
  return all;
}
