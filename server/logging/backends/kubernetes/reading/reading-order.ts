import type { LogSource } from '../pods/log-source.ts';

/**
 * Logs with their ranks, taken from each node in turn: so no kubelet gets all requests at once, and a slow one holds up
 * only a few of the logs that are read at a time.
 */
export function* readingOrder(sources: readonly LogSource[]): Generator<[rank: number, source: LogSource]> {
  const byNode = new Map<string, [number, LogSource][]>();
  for (const [rank, source] of sources.entries()) {
    const others = byNode.get(source.node);
    if (others) others.push([rank, source]);
    else byNode.set(source.node, [[rank, source]]);
  }
  const queues = [...byNode.values()].map((logs) => logs.values());
  while (queues.length > 0) {
    for (const [index, queue] of [...queues.entries()].toReversed()) {
      const next = queue.next();
      if (next.done) queues.splice(index, 1);
      else yield next.value;
    }
  }
}
