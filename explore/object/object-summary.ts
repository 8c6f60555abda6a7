// What an object says about itself: labels, annotations, containers and conditions; its owners, the objects below it, and
// its events.
import {
  containersOf,
  fieldTerm,
  type KubernetesObject,
  kindOfReference,
  LAST_APPLIED,
  listAt,
  type RelatedList,
  relatedLists,
  statusOf,
  textAt,
  toneOfCondition,
} from 'ks-apiserver-client';
import { type ComponentChildren, h } from 'preact';
import { type Kinds, titleOf, useExplore } from '../context.ts';
import { RecentEvents } from '../overview/recent-events.ts';
import { listURL, objectURL } from '../route.ts';
import { useLoaded } from '../ui/use-live.ts';
import { RelativeTime, statusWord, textTable, toned } from '../ui/values.ts';

export function objectSummary(resource: string, object: KubernetesObject, kinds: Kinds): ComponentChildren {
  const { name, namespace, labels = {}, annotations = {}, ownerReferences = [] } = object.metadata;
  const conditions = listAt(object, 'status.conditions');
  const node = resource === 'pods' && textAt(object, 'spec.nodeName');
  const lists = relatedLists(resource, object, kinds.get(resource)?.isCustom === true);
  const involved = [fieldTerm('involvedObject.kind', object.kind), fieldTerm('involvedObject.name', name)];
  const labelItems = Object.entries(labels).map(([key, value]) => {
    const labelSelector = `${key}=${value}`;
    const href = listURL(resource, { labelSelector });
    return h('li', {}, h('a', { class: 'button chip', href }, h('bdi', {}, labelSelector)));
  });
  const annotationItems = Object.entries(annotations)
    .filter(([key]) => key !== LAST_APPLIED)
    .map(([key, text]) => [h('dt', {}, key), h('dd', { class: 'clamp' }, h('bdi', {}, text))]);
  return h('div', { class: 'summary stack split' }, [
    h('div', { class: 'stack' }, [
      resource === 'pods' && card('Containers', containerTable(object)),
      conditions.length > 0 && card('Conditions', conditionTable(conditions)),
      lists.map((list) => h(RelatedObjects, { key: JSON.stringify(list), ...list })),
      // Last, because a busy object has many.
      h(RecentEvents, { title: 'Events', filter: { namespace, fieldSelector: involved.join() } }),
    ]),
    h('div', { class: 'stack' }, [
      ownerReferences.length > 0 && card('Owners', ownerItems(object, kinds)),
      node && card('Node', h('a', { href: objectURL('nodes', { name: node }) }, node)),
      labelItems.length > 0 && card('Labels', h('ul', { class: 'row' }, labelItems)),
      annotationItems.length > 0 && card('Annotations', h('dl', { class: 'small' }, annotationItems)),
    ]),
  ]);
}

function card(heading: ComponentChildren, content: ComponentChildren): ComponentChildren {
  return h('section', { class: 'card' }, [h('h2', {}, heading), content]);
}

function ownerItems({ metadata }: KubernetesObject, kinds: Kinds): ComponentChildren {
  const { ownerReferences = [], namespace } = metadata;
  const owners = ownerReferences.map((owner) => {
    const { kind, name, uid } = owner;
    const known = kindOfReference(kinds.values(), owner);
    const place = { name, namespace: known?.namespaced ? namespace : undefined };
    return h('li', { key: uid }, [
      h('span', { class: 'muted' }, `${kind} `),
      known ? h('a', { href: objectURL(known.resource, place) }, name) : name,
    ]);
  });
  return h('ul', {}, owners);
}

const CONDITION = ['Type', 'Status', 'Reason', 'Message', 'Since'];

function conditionTable(conditions: readonly unknown[]): ComponentChildren {
  const rows = conditions.map((condition) => {
    const [type, status] = [textAt(condition, 'type'), textAt(condition, 'status')];
    return [
      type,
      toned(toneOfCondition(type, status), status),
      textAt(condition, 'reason'),
      h('bdi', {}, textAt(condition, 'message')),
      h(RelativeTime, { time: textAt(condition, 'lastTransitionTime') }),
    ];
  });
  return textTable('Conditions', CONDITION, rows);
}

const CONTAINER = ['Name', 'State', 'Restarts', 'Last end', 'Image'];

function containerTable(pod: KubernetesObject): ComponentChildren {
  const rows = containersOf(pod).map(({ name, state, restarts, end, image }) => [
    name,
    statusWord(state),
    restarts,
    end && [`${end.reason}, exit code ${end.exitCode}, `, h(RelativeTime, { time: end.finishedAt }), ' ago'],
    h('bdi', {}, image),
  ]);
  return textTable('Containers', CONTAINER, rows);
}

/** Objects in a table; the link leads to the others. */
const FEW = 8;
/** Pause between two requests, in ms. */
const REPEAT_MS = 5_000;

/** A short table of the objects of a list; nothing if there are none. */
function RelatedObjects({ resource, query }: RelatedList): ComponentChildren {
  const { client, kinds } = useExplore();
  const content = { columns: true, includeObject: 'Metadata' } as const;
  const wanted = { ...query, ...content, sortBy: 'name', ascending: true, limit: FEW };
  const load = (signal: AbortSignal) => client.lists.page(resource, wanted, { signal });
  const { value: page } = useLoaded(load, [resource, JSON.stringify(query)], REPEAT_MS);
  if (!page || page.totalItems === 0) return null;
  const title = titleOf(resource, kinds);
  const all = page.totalItems === 1 ? 'Show as a list' : `Show all ${page.totalItems}`;
  const rows = page.items.map(({ metadata }, i) => [
    h('a', { href: objectURL(resource, metadata) }, metadata.name),
    statusWord(statusOf(page, i) ?? ''),
    h(RelativeTime, { time: metadata.creationTimestamp }),
  ]);
  const heading = [title, h('a', { href: listURL(resource, query) }, all)];
  return card(heading, textTable(title, ['Name', 'Status', 'Age'], rows));
}
