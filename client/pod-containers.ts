// The containers of a pod: what each of them does now, and how it ended before.
import type { KubernetesObject } from './kubernetes-object.ts';
import { listAt, textAt, valueAt } from './object-values.ts';

export interface PodContainer {
  readonly name: string;
  readonly image: string;
  /** For example `Running` or `CrashLoopBackOff`; empty if it is unknown. */
  readonly state: string;
  /** Empty if it is unknown. */
  readonly restarts: string;
  /** The current or the last termination. `finishedAt`: RFC 3339. */
  readonly end?: { readonly reason: string; readonly exitCode: string; readonly finishedAt: string };
}

/** Init containers first, in the order in which they run. */
const STATUSES = ['initContainerStatuses', 'containerStatuses', 'ephemeralContainerStatuses'];

/** The containers of a pod, init containers first. */
export function containersOf(pod: KubernetesObject): readonly PodContainer[] {
  const statuses = STATUSES.flatMap((list) => listAt(pod, `status.${list}`));
  // A pod without a node has no statuses.
  const containers = statuses.length > 0 ? statuses : listAt(pod, 'spec.containers');
  return containers.map((container) => {
    const text = (path: string): string => textAt(container, path);
    const reason = text('state.waiting.reason') || text('state.terminated.reason');
    const end = valueAt(container, 'state.terminated') ?? valueAt(container, 'lastState.terminated');
    return {
      name: text('name'),
      image: text('image'),
      state: reason || (valueAt(container, 'state.running') ? 'Running' : ''),
      restarts: text('restartCount'),
      ...(end ? { end: endOf(end) } : {}),
    };
  });
}

function endOf(terminated: unknown): NonNullable<PodContainer['end']> {
  const text = (path: string): string => textAt(terminated, path);
  return { reason: text('reason') || 'Ended', exitCode: text('exitCode'), finishedAt: text('finishedAt') };
}
