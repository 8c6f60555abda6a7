// What the slices of one question answered, put together. They share no line, and those of counts no namespace and so
// no container.
import type { Shortfall } from '../../../../../apis/logging/v1alpha2/log-answer.ts';
import type { Buckets, LogHistogram, LogStatistics, Total } from '../../../log-store.ts';

export function sumOfStatistics(slices: readonly LogStatistics[]): LogStatistics {
  return {
    logs: sumOfTotals(slices.map(({ logs }) => logs)),
    containers: slices.reduce((sum, { containers }) => sum + containers, 0),
    containersApproximate: slices.some(({ containersApproximate }) => containersApproximate),
    shortfalls: distinct(slices.flatMap(({ shortfalls }) => shortfalls)),
  };
}

export function sumOfHistograms(slices: readonly LogHistogram[], { edges }: Buckets): LogHistogram {
  return {
    total: sumOfTotals(slices.map(({ total }) => total)),
    counts: edges.slice(1).map((_, n) => slices.reduce((sum, { counts }) => sum + (counts[n] ?? 0), 0)),
    shortfalls: distinct(slices.flatMap(({ shortfalls }) => shortfalls)),
  };
}

export function sumOfTotals(totals: readonly Total[]): Total {
  return {
    count: totals.reduce((sum, { count }) => sum + count, 0),
    relation: totals.every(({ relation }) => relation === 'eq') ? 'eq' : 'gte',
  };
}

/** Each once, however many slices say it. */
export function distinct(shortfalls: readonly Shortfall[]): Shortfall[] {
  return [...new Map(shortfalls.map((shortfall) => [shortfall.message, shortfall])).values()];
}
