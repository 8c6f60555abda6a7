/**
 * Calls `work` for each item, at most `limit` calls at a time, and stops at the first error. Results are in the order
 * of `items`.
 */
export async function inParallel<Item, Result>(
  limit: number,
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const entries = items.entries();
  let failed = false;
  const worker = async (): Promise<void> => {
    for (const [index, item] of entries) {
      if (failed) return;
      try {
        results[index] = await work(item);
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker));
  return results;
}
