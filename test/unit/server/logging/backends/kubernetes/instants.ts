// Provides a time range, log lines, logs and call arguments for unit tests of the pod log store.
import type { ContainerLog } from '../../../../../../server/logging/backends/kubernetes/container-log.ts';
import type { Call, Selection } from '../../../../../../server/logging/store/log-store.ts';
import type { WrittenLine } from './kubelet-log.ts';

export const call: Call = { signal: new AbortController().signal, timeoutMs: 55_000 };

/** All lines of one day. */
export const everything: Selection = {
  scope: { everything: true },
  range: { start: '2026-01-01T00:00:00.000000000Z', end: '2026-01-02T00:00:00.000000000Z' },
};

/** A line in the n-th second of that day. */
export function at(second: number, text = `line ${second}`, nanoseconds = '000000000'): WrittenLine {
  const time = new Date(Date.UTC(2026, 0, 1) + second * 1000).toISOString().slice(0, 19);
  return { time: `${time}.${nanoseconds}Z`, text };
}

/** The log of the running container `app` of a pod in namespace `shop`. */
export function containerLog(pod: string, node = ''): ContainerLog {
  const run = { id: '', startedAt: undefined, finishedAt: undefined };
  const container = { namespace: 'shop', pod, container: 'app', node };
  return { ...container, previous: false, running: true, run, predecessors: false };
}
