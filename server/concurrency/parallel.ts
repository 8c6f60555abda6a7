/**
 * Calls `work` for each item, at most `limit` calls at a time, and stops at the first error. Results are in the order
 * of `items`. It does not yield to the event loop for results that are not promises.
 */
export async function inParallel<Item, Result>(
  limit: number,
  items: readonly Item[],
  work: (item: Item) => Promise<Result> | Result,
): Promise<Result[]> {
  const results: Result[] = [];
  const entries = items.entries();
  let failed = false;
  const worker = async (): Promise<void> => {
    for (const [index, item] of entries) {
      if (failed) return;
      try {
        const result = work(item);
        results[index] = result instanceof Promise ? await result : result;
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  const workers: Promise<void>[] = [];
  // The first worker completes all results that are not promises.
  while (workers.length < Math.min(limit, items.length) && results.length < items.length) {
    workers.push(worker());
  }
  await Promise.all(workers);
  return results;
}
