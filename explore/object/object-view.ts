// The view of one object: what it is, its YAML, and what belongs to it.
import type { KubernetesObject } from 'ks-apiserver-client';
import { type ComponentChildren, h } from 'preact';
import { useExplore } from '../context.ts';
import { titleOf } from '../kinds.ts';
import { link, listRoute, type ObjectRoute, withQuery } from '../route.ts';
import { Failure, Notice } from '../ui/notice.ts';
import { RelativeTime } from '../ui/relative-time.ts';
import { Status } from '../ui/status.ts';
import { ObjectSummary } from './object-summary.ts';
import { logsOf } from './relations.ts';
import { useObject } from './use-object.ts';
import { YamlPanel } from './yaml-panel.ts';

export function ObjectView({ route }: { readonly route: ObjectRoute }): ComponentChildren {
  const { resource, namespace, name, query } = route;
  const { kinds } = useExplore();
  const { object, status, isDeleted, isStill, error, retry } = useObject(route);
  const isYAML = query.get('part') === 'yaml';
  const reload = ['Load again', retry] as const;
  return h('div', { class: 'stack' }, [
    h('nav', { 'aria-label': 'Path' }, [
      h('a', link(listRoute(resource)), titleOf(resource, kinds)),
      namespace !== undefined && [' / ', h('a', link(listRoute(resource, { namespace })), namespace)],
    ]),
    h('div', { class: 'row' }, [
      h('h1', { tabIndex: -1 }, h('bdi', {}, name)),
      isDeleted ? h(Status, { status: 'Deleted' }) : status !== undefined && h(Status, { status }),
      object &&
        h('span', { class: 'muted' }, ['Age ', h(RelativeTime, { time: object.metadata.creationTimestamp })]),
    ]),
    isDeleted && h(Notice, { tone: 'bad' }, 'The object has been deleted. This is its last state.'),
    isStill &&
      h(
        Notice,
        { tone: 'info', action: reload },
        'Lists do not contain this object. Its changes are not shown.',
      ),
    error && h(Failure, { error, retry }),
    !object && !error && h('p', { class: 'muted', role: 'status' }, 'Loading the object…'),
    object && h(Parts, { route, object, isYAML }),
    object &&
      (isYAML ? h(YamlPanel, { object, kind: kinds.get(resource) }) : h(ObjectSummary, { resource, object })),
  ]);
}

interface PartsProps {
  readonly route: ObjectRoute;
  readonly object: KubernetesObject;
  readonly isYAML: boolean;
}

function Parts({ route, object, isYAML }: PartsProps): ComponentChildren {
  const logs = logsOf(route.resource, object);
  const part = (title: string, name: string, isCurrent: boolean): ComponentChildren =>
    h(
      'a',
      {
        class: 'item',
        ...link(withQuery(route, { part: name })),
        'aria-current': isCurrent ? 'page' : undefined,
      },
      title,
    );
  return h('nav', { class: 'row', 'aria-label': 'Parts' }, [
    part('Summary', '', !isYAML),
    part('YAML', 'yaml', isYAML),
    logs && h('a', { class: 'item', ...link(logs) }, 'Logs'),
  ]);
}
