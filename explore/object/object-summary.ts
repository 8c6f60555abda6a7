// What an object says about itself: labels, annotations, containers and conditions; its owners, the objects below it, and
// its events.
import {
  fieldTerm,
  type KubernetesObject,
  kindOfReference,
  LAST_APPLIED,
  listAt,
  relatedLists,
  textAt,
  toneOfCondition,
  valueAt,
} from 'ks-apiserver-client';
import { type ComponentChildren, h } from 'preact';
import { useExplore } from '../context.ts';
import { RecentEvents } from '../overview/recent-events.ts';
import { link, listRoute, objectRoute } from '../route.ts';
import { RelativeTime } from '../ui/relative-time.ts';
import { Status } from '../ui/status.ts';
import { TextTable } from '../ui/text-table.ts';
import { RelatedTable } from './related-table.ts';

export interface ObjectSummaryProps {
  readonly resource: string;
  readonly object: KubernetesObject;
}

export function ObjectSummary({ resource, object }: ObjectSummaryProps): ComponentChildren {
  const { kinds } = useExplore();
  const { name, namespace, labels = {}, annotations = {}, ownerReferences = [] } = object.metadata;
  const conditions = listAt(object, 'status.conditions');
  const lists = relatedLists(resource, object, kinds.get(resource)?.isCustom === true);
  const involved = [fieldTerm('involvedObject.kind', object.kind), fieldTerm('involvedObject.name', name)];
  const labelItems = Object.entries(labels).map(([key, value]) => {
    const labelSelector = `${key}=${value}`;
    const to = link(listRoute(resource, { labelSelector }));
    return h('li', {}, h('a', { class: 'button chip', ...to }, h('bdi', {}, labelSelector)));
  });
  const annotationItems = Object.entries(annotations)
    .filter(([key]) => key !== LAST_APPLIED)
    .map(([key, text]) => [h('dt', {}, key), h('dd', { class: 'clamp' }, h('bdi', {}, text))]);
  return h('div', { class: 'summary stack split' }, [
    h('div', { class: 'stack' }, [
      resource === 'pods' && card('Containers', h(Containers, { pod: object })),
      conditions.length > 0 && card('Conditions', h(Conditions, { conditions })),
      lists.map((list) => h(RelatedTable, { key: JSON.stringify(list), ...list })),
      // Last, because a busy object has many.
      h(RecentEvents, { title: 'Events', filter: { namespace, fieldSelector: involved.join() } }),
    ]),
    h('div', { class: 'stack' }, [
      ownerReferences.length > 0 && card('Owners', h(Owners, { object })),
      labelItems.length > 0 && card('Labels', h('ul', { class: 'row' }, labelItems)),
      annotationItems.length > 0 && card('Annotations', h('dl', { class: 'small' }, annotationItems)),
    ]),
  ]);
}

function card(title: string, content: ComponentChildren): ComponentChildren {
  return h('section', { class: 'card' }, [h('h2', {}, title), content]);
}

function Owners({ object }: { readonly object: KubernetesObject }): ComponentChildren {
  const { kinds } = useExplore();
  const { ownerReferences = [], namespace } = object.metadata;
  const owners = ownerReferences.map((owner) => {
    const { kind, name, uid } = owner;
    const known = kindOfReference(kinds.values(), owner);
    const place = { name, namespace: known?.namespaced ? namespace : undefined };
    return h('li', { key: uid }, [
      h('span', { class: 'muted' }, `${kind} `),
      known ? h('a', link(objectRoute(known.resource, place)), name) : name,
    ]);
  });
  return h('ul', {}, owners);
}

const CONDITION = ['Type', 'Status', 'Reason', 'Message', 'Since'];

function Conditions({ conditions }: { readonly conditions: readonly unknown[] }): ComponentChildren {
  const rows = conditions.map((condition) => {
    const [type, status] = [textAt(condition, 'type'), textAt(condition, 'status')];
    return [
      type,
      h('span', { class: 'status', 'data-tone': toneOfCondition(type, status) }, status),
      textAt(condition, 'reason'),
      h('bdi', {}, textAt(condition, 'message')),
      h(RelativeTime, { time: textAt(condition, 'lastTransitionTime') }),
    ];
  });
  return h(TextTable, { label: 'Conditions', names: CONDITION, rows });
}

const CONTAINER = ['Name', 'State', 'Restarts', 'Last end', 'Image'];
/** Init containers first, in the order in which they run. */
const STATUSES = ['initContainerStatuses', 'containerStatuses', 'ephemeralContainerStatuses'];

/** What each container of a pod does now, and how it ended before. */
function Containers({ pod }: { readonly pod: KubernetesObject }): ComponentChildren {
  const statuses = STATUSES.flatMap((list) => listAt(pod, `status.${list}`));
  // A pod without a node has no statuses.
  const containers = statuses.length > 0 ? statuses : listAt(pod, 'spec.containers');
  const rows = containers.map((container) => [
    textAt(container, 'name'),
    h(Status, { status: stateOf(container) }),
    textAt(container, 'restartCount'),
    endOf(valueAt(container, 'state.terminated') ?? valueAt(container, 'lastState.terminated')),
    h('bdi', {}, textAt(container, 'image')),
  ]);
  return h(TextTable, { label: 'Containers', names: CONTAINER, rows });
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
