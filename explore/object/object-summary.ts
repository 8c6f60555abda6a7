// What an object says about itself: labels, annotations and conditions; its owners, the objects below it, and its events.
import type { KubernetesObject } from 'ks-apiserver-client';
import { type ComponentChildren, h } from 'preact';
import { useExplore } from '../context.ts';
import { listAt, textAt } from '../list/kind-columns.ts';
import { link, type ObjectRoute, queryOf } from '../route.ts';
import type { Tone } from '../ui/notice.ts';
import { RelativeTime } from '../ui/relative-time.ts';
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
  return h('div', { class: 'summary' }, [
    h('div', { class: 'column' }, [
      conditions.length > 0 && h(Section, { title: 'Conditions' }, h(Conditions, { conditions })),
      h(EventTable, { object }),
      // After a deletion, the lists below would be empty.
      relationsOf(resource, object, kinds.get(resource)?.isCustom === true).map((list) =>
        h(RelatedTable, {
          key: `${list.resource} ${list.query}`,
          list,
          version: isDeleted ? '' : resourceVersion,
        }),
      ),
    ]),
    h('div', { class: 'column' }, [
      h(Owners, { object }),
      h(
        Section,
        { title: 'Labels' },
        h(
          'ul',
          { class: 'labels' },
          Object.entries(labels).map(([key, value]) =>
            h(
              'li',
              { key },
              h(
                'a',
                { class: 'label', ...link(withLabel(resource, key, value)) },
                h('bdi', {}, `${key}=${value}`),
              ),
            ),
          ),
        ),
        Object.keys(labels).length === 0 && h('p', { class: 'muted' }, 'None'),
      ),
      h(Section, { title: 'Annotations' }, h(Annotations, { annotations })),
    ]),
  ]);
}

export function Section({
  title,
  children,
}: {
  readonly title: string;
  readonly children?: ComponentChildren;
}): ComponentChildren {
  return h('section', { class: 'card' }, [h('h2', {}, title), children]);
}

function withLabel(resource: string, key: string, value: string) {
  return { view: 'list', resource, query: queryOf({ labelSelector: `${key}=${value}` }) } as const;
}

function Owners({ object }: { readonly object: KubernetesObject }): ComponentChildren {
  const { kinds } = useExplore();
  const { ownerReferences = [], namespace } = object.metadata;
  if (ownerReferences.length === 0) return null;
  const ownerOf = ({ apiVersion, kind, name, uid }: (typeof ownerReferences)[number]): ComponentChildren => {
    const group = apiVersion.includes('/') ? apiVersion.split('/')[0] : '';
    const known = [...kinds.values()].find((each) => each.kind === kind && each.group === group);
    const query = new URLSearchParams();
    const owner =
      known &&
      ({
        view: 'object',
        resource: known.resource,
        namespace: known.namespaced ? namespace : undefined,
        name,
        query,
      } as const);
    return h('li', { key: uid }, [
      h('span', { class: 'muted' }, `${kind} `),
      owner ? h('a', link(owner), name) : name,
    ]);
  };
  return h(Section, { title: 'Owners' }, h('ul', {}, ownerReferences.map(ownerOf)));
}

function Annotations({
  annotations,
}: {
  readonly annotations: Readonly<Record<string, string>>;
}): ComponentChildren {
  const all = Object.entries(annotations).filter(([key]) => key !== LAST_APPLIED);
  if (all.length === 0) return h('p', { class: 'muted' }, 'None');
  return h(
    'dl',
    {},
    all.map(([key, value]) => [h('dt', { key }, key), h('dd', {}, h(LongText, { text: value }))]),
  );
}

function Conditions({ conditions }: { readonly conditions: readonly unknown[] }): ComponentChildren {
  const names = ['Type', 'Status', 'Reason', 'Message', 'Since'];
  return h(
    'div',
    { class: 'scroll', tabIndex: 0, role: 'region', 'aria-label': 'Conditions' },
    h('table', {}, [
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          names.map((name) => h('th', { key: name, scope: 'col' }, name)),
        ),
      ),
      h(
        'tbody',
        {},
        conditions.map((condition) =>
          h('tr', { key: textAt(condition, 'type') }, [
            h('td', {}, textAt(condition, 'type')),
            h(
              'td',
              {},
              h(
                'span',
                {
                  class: 'status',
                  'data-tone': toneOf(textAt(condition, 'type'), textAt(condition, 'status')),
                },
                textAt(condition, 'status'),
              ),
            ),
            h('td', {}, textAt(condition, 'reason')),
            h('td', { class: 'message' }, textAt(condition, 'message')),
            h('td', {}, h(RelativeTime, { time: textAt(condition, 'lastTransitionTime') })),
          ]),
        ),
      ),
    ]),
  );
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
