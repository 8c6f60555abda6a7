// What an object says about itself: labels, annotations, containers and conditions; its owners, the objects below it, and
// its events.
import type { KubernetesObject } from 'ks-apiserver-client';
import { type ComponentChildren, h } from 'preact';
import { useExplore } from '../context.ts';
import { resourceOf } from '../kinds.ts';
import { listAt, textAt } from '../list/kind-columns.ts';
import { link, type ObjectRoute, queryOf } from '../route.ts';
import type { Tone } from '../ui/notice.ts';
import { RelativeTime } from '../ui/relative-time.ts';
import { TextTable } from '../ui/text-table.ts';
import { Containers } from './containers.ts';
import { EventTable, RelatedTable } from './related-table.ts';
import { relationsOf } from './relations.ts';
import { LAST_APPLIED } from './shown-yaml.ts';

export interface ObjectSummaryProps {
  readonly route: ObjectRoute;
  readonly object: KubernetesObject;
  readonly isDeleted: boolean;
}

export function ObjectSummary({ route, object, isDeleted }: ObjectSummaryProps): ComponentChildren {
  const { resource } = route;
  const { kinds } = useExplore();
  const { labels = {}, annotations = {}, resourceVersion } = object.metadata;
  const conditions = listAt(object, 'status.conditions');
  const lists = relationsOf(resource, object, kinds.get(resource)?.isCustom === true);
  // After a deletion, the lists would be empty.
  const version = isDeleted ? '' : resourceVersion;
  const labelItems = Object.entries(labels).map(([key, value]) => {
    const query = queryOf({ labelSelector: `${key}=${value}` });
    return h('li', {}, [
      h('a', { class: 'label', ...link({ view: 'list', resource, query }) }, h('bdi', {}, `${key}=${value}`)),
    ]);
  });
  const annotationItems = Object.entries(annotations)
    .filter(([key]) => key !== LAST_APPLIED)
    .map(([key, text]) => [h('dt', {}, key), h('dd', {}, h(LongText, { text }))]);
  const none = h('p', { class: 'muted' }, 'None');
  return h('div', { class: 'summary' }, [
    h('div', { class: 'column' }, [
      resource === 'pods' && card('Containers', h(Containers, { pod: object })),
      conditions.length > 0 && card('Conditions', h(Conditions, { conditions })),
      lists.map((list) => h(RelatedTable, { key: `${list.resource} ${list.query}`, list, version })),
      // Last, because a busy object has many.
      h(EventTable, { object }),
    ]),
    h('div', { class: 'column' }, [
      h(Owners, { object }),
      card('Labels', labelItems.length > 0 ? h('ul', { class: 'labels' }, labelItems) : none),
      card('Annotations', annotationItems.length > 0 ? h('dl', {}, annotationItems) : none),
    ]),
  ]);
}

function card(title: string, content: ComponentChildren): ComponentChildren {
  return h('section', { class: 'card' }, [h('h2', {}, title), content]);
}

function Owners({ object }: { readonly object: KubernetesObject }): ComponentChildren {
  const { kinds } = useExplore();
  const { ownerReferences = [], namespace } = object.metadata;
  if (ownerReferences.length === 0) return null;
  const owners = ownerReferences.map((owner) => {
    const { kind, name, uid } = owner;
    const resource = resourceOf(kinds, owner);
    const known = resource === undefined ? undefined : kinds.get(resource);
    const query = new URLSearchParams();
    const place = { name, namespace: known?.namespaced ? namespace : undefined, query };
    return h('li', { key: uid }, [
      h('span', { class: 'muted' }, `${kind} `),
      known ? h('a', link({ view: 'object', resource: known.resource, ...place }), name) : name,
    ]);
  });
  return card('Owners', h('ul', {}, owners));
}

const CONDITION = ['Type', 'Status', 'Reason', 'Message', 'Since'];

function Conditions({ conditions }: { readonly conditions: readonly unknown[] }): ComponentChildren {
  const rows = conditions.map((condition) => {
    const members = ['type', 'status', 'reason', 'message', 'lastTransitionTime'];
    const [type = '', status = '', reason, message, time] = members.map((name) => textAt(condition, name));
    return h('tr', { key: type }, [
      h('td', {}, type),
      h('td', {}, h('span', { class: 'status', 'data-tone': toneOf(type, status) }, status)),
      h('td', {}, reason),
      h('td', { class: 'message' }, message),
      h('td', {}, h(RelativeTime, { time })),
    ]);
  });
  return h(TextTable, { label: 'Conditions', names: CONDITION, rows });
}

/** Conditions that are true when something is wrong. */
const BAD = /Pressure|Unavailable|Fail|Error|Stalled|Degraded|Disruption|Conflict|Terminating/;

function toneOf(type: string, status: string): Tone {
  if (status !== 'True' && status !== 'False') return 'idle';
  return (status === 'True') === BAD.test(type) ? 'bad' : 'good';
}

/** Characters of a text that are always shown. */
const LONG = 300;

function LongText({ text }: { readonly text: string }): ComponentChildren {
  if (text.length <= LONG) return h('bdi', {}, text);
  return h('details', {}, [h('summary', {}, h('bdi', {}, `${text.slice(0, LONG)}…`)), h('bdi', {}, text)]);
}
