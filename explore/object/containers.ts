// The containers of a pod: what each one does now, and how it ended before.
import { type KubernetesObject, listAt, textAt, valueAt } from 'ks-apiserver-client';
import { type ComponentChildren, h } from 'preact';
import { RelativeTime } from '../ui/relative-time.ts';
import { Status } from '../ui/status.ts';
import { TextTable } from '../ui/text-table.ts';

const NAMES = ['Name', 'State', 'Restarts', 'Last end', 'Image'];
/** Init containers first, in the order in which they run. */
const LISTS = ['initContainerStatuses', 'containerStatuses', 'ephemeralContainerStatuses'];

export function Containers({ pod }: { readonly pod: KubernetesObject }): ComponentChildren {
  const statuses = LISTS.flatMap((list) => listAt(pod, `status.${list}`));
  // A pod without a node has no statuses.
  const containers = statuses.length > 0 ? statuses : listAt(pod, 'spec.containers');
  const rows = containers.map((container) => [
    textAt(container, 'name'),
    h(Status, { status: stateOf(container) }),
    textAt(container, 'restartCount'),
    endOf(valueAt(container, 'state.terminated') ?? valueAt(container, 'lastState.terminated')),
    h('bdi', {}, textAt(container, 'image')),
  ]);
  return h(TextTable, { label: 'Containers', names: NAMES, rows });
}

function stateOf(container: unknown): string {
  const reason = textAt(container, 'state.waiting.reason') || textAt(container, 'state.terminated.reason');
  return reason || (valueAt(container, 'state.running') ? 'Running' : '');
}

function endOf(end: unknown): ComponentChildren {
  if (!end) return null;
  const [reason, code, time] = ['reason', 'exitCode', 'finishedAt'].map((name) => textAt(end, name));
  return [`${reason || 'Ended'}, exit code ${code}, `, h(RelativeTime, { time }), ' ago'];
}
