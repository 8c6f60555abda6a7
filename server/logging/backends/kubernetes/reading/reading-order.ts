import type { LogSource } from '../pods/log-source.ts';

/**
 * Logs with their ranks, one of each node after the other: so no kubelet is asked for all at once, and one that is
 * slow holds up a few of those that are read at a time, not all.
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
