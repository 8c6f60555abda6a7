// The number of lines by time and severity.
import { intervalOf, type LogHistogram, type LogQuery, StatusError } from 'ks-apiserver-client';
import { useExplore } from '../context.ts';
import { spanOf } from '../ui/relative-time.ts';
import { type Loaded, useLoaded } from '../ui/use-live.ts';
import type { TimeRange } from './log-query.ts';

/** Pause before the next histogram while the view is live. */
const REFRESH_MS = 15_000;
const MAX_BUCKETS = 120;

export interface Counts {
  readonly histogram: LogHistogram;
  readonly range: TimeRange;
  /** Width of the buckets in seconds. */
  readonly step: number;
}

/** Counts of all levels: the levels of the query are only shown or hidden. */
export function useHistogram(
  { level: _level, ...query }: LogQuery,
  rangeNow: () => TimeRange,
  key: string,
  isLive: boolean,
): Loaded<Counts> {
  const { client } = useExplore();
  const load = async (signal: AbortSignal): Promise<Counts> => {
    const range = rangeNow();
    const { start, end } = range;
    const step = intervalOf(end - start, MAX_BUCKETS);
    const { timeZone: time_zone } = Intl.DateTimeFormat().resolvedOptions();
    const sent = { ...query, start_time: start, end_time: end, interval: spanOf(step * 1000), time_zone };
    try {
      return { histogram: await client.logs.histogram({ ...sent, severity: true }, { signal }), range, step };
    } catch (error) {
      // A store whose fields cannot be searched for levels still counts lines.
      const isLevel = error instanceof StatusError && error.causes.some(({ field }) => field === 'severity');
      if (!isLevel) throw error;
      return { histogram: await client.logs.histogram(sent, { signal }), range, step };
    }
  };
  return useLoaded(load, [key], isLive ? REFRESH_MS : 0);
}
