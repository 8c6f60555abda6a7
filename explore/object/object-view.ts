// The view of one object: what it is, its YAML, and what belongs to it.
import { relatedLogs } from 'ks-apiserver-client';
import { type ComponentChildren, h } from 'preact';
import { useExplore } from '../context.ts';
import { titleOf } from '../kinds.ts';
import { link, listRoute, logsRoute, type ObjectRoute, type Route, withQuery } from '../route.ts';
import { Failure, Notice } from '../ui/notice.ts';
import { RelativeTime } from '../ui/relative-time.ts';
import { Status } from '../ui/status.ts';
import { ObjectSummary } from './object-summary.ts';
import { useObject } from './use-object.ts';
import { YamlPanel } from './yaml-panel.ts';

const STILL = 'Lists do not contain this object. Its changes are not shown.';

export function ObjectView({ route }: { readonly route: ObjectRoute }): ComponentChildren {
  const { resource, namespace, name, query } = route;
  const { kinds } = useExplore();
  const { object, status, isDeleted, isStill, error, retry } = useObject(route);
  const isYAML = query.get('part') === 'yaml';
  const createdAt = object?.metadata.creationTimestamp;
  const logs = object && relatedLogs(resource, object);
  const reload = ['Load again', retry] as const;
  return h('div', { class: 'stack' }, [
    h('nav', { 'aria-label': 'Path' }, [
      h('a', link(listRoute(resource)), titleOf(resource, kinds)),
      namespace !== undefined && [' / ', h('a', link(listRoute(resource, { namespace })), namespace)],
    ]),
    h('div', { class: 'row' }, [
      h('h1', { tabIndex: -1 }, h('bdi', {}, name)),
      isDeleted ? h(Status, { status: 'Deleted' }) : status !== undefined && h(Status, { status }),
      object && h('span', { class: 'muted' }, ['Age ', h(RelativeTime, { time: createdAt })]),
    ]),
    isDeleted && h(Notice, { tone: 'bad' }, 'The object has been deleted. This is its last state.'),
    isStill && h(Notice, { tone: 'info', action: reload }, STILL),
    error && h(Failure, { error, retry }),
    !object && !error && h('p', { class: 'muted', role: 'status' }, 'Loading the object…'),
    object && [
      h('nav', { class: 'row', 'aria-label': 'Parts' }, [
        part('Summary', withQuery(route, { part: '' }), !isYAML),
        part('YAML', withQuery(route, { part: 'yaml' }), isYAML),
        logs && part('Logs', logsRoute({ ...logs, last: '24h', follow: 'true' }), false),
      ]),
      isYAML ? h(YamlPanel, { object, kind: kinds.get(resource) }) : h(ObjectSummary, { resource, object }),
    ],
  ]);
}

function part(title: string, route: Route, isCurrent: boolean): ComponentChildren {
  return h('a', { class: 'item', ...link(route), 'aria-current': isCurrent ? 'page' : undefined }, title);
}
