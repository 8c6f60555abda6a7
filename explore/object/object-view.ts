// The view of one object: what it is, its YAML, and what belongs to it.
import { type ComponentChildren, h } from 'preact';
import { useExplore } from '../context.ts';
import { titleOf } from '../kinds.ts';
import { link, type ObjectRoute, queryOf, withQuery } from '../route.ts';
import { Failure, Notice } from '../ui/notice.ts';
import { RelativeTime } from '../ui/relative-time.ts';
import { Status } from '../ui/status.ts';
import { hasLogs, ObjectLogs } from './object-logs.ts';
import { ObjectSummary } from './object-summary.ts';
import { useObject } from './use-object.ts';
import { YamlPanel } from './yaml-panel.ts';

const PARTS = { '': 'Summary', yaml: 'YAML', logs: 'Logs' } as const;

export function ObjectView({ route }: { readonly route: ObjectRoute }): ComponentChildren {
  const { resource, namespace, name, query } = route;
  const { kinds } = useExplore();
  const { object, status, isDeleted, isStill, error, retry } = useObject(route);
  const kind = kinds.get(resource);
  const part = query.get('part') ?? '';
  const withLogs = object && hasLogs(resource, object);
  const parts = Object.entries(PARTS).map(([key, title]) => {
    const current = key === part && { 'aria-current': 'page' as const };
    const shows = key !== 'logs' || withLogs;
    return shows && h('a', { ...link(withQuery(route, { part: key })), ...current }, title);
  });
  return h('div', { class: 'object-view' }, [
    h('nav', { class: 'path', 'aria-label': 'Path' }, [
      h('a', link({ view: 'list', resource, query: new URLSearchParams() }), titleOf(resource, kinds)),
      namespace !== undefined && [
        h('span', { class: 'muted', 'aria-hidden': true }, '/'),
        h('a', link({ view: 'list', resource, query: queryOf({ namespace }) }), namespace),
      ],
    ]),
    h('div', { class: 'heading' }, [
      h('h1', { tabIndex: -1 }, h('bdi', {}, name)),
      isDeleted ? h(Status, { status: 'Deleted' }) : status !== undefined && h(Status, { status }),
      object &&
        h('span', { class: 'muted' }, ['Age ', h(RelativeTime, { time: object.metadata.creationTimestamp })]),
    ]),
    isDeleted && h(Notice, { tone: 'bad' }, 'The object has been deleted. This is its last state.'),
    isStill &&
      object &&
      h(
        Notice,
        { tone: 'info', action: ['Load again', retry] },
        'Lists do not contain this object, so the page does not follow its changes.',
      ),
    error && h(Failure, { error, retry }),
    !object && !error && h('p', { class: 'muted', role: 'status' }, 'Loading the object…'),
    object && h('nav', { class: 'parts', 'aria-label': 'Parts' }, parts),
    object && part === 'yaml' && h(YamlPanel, { object, kind, isDeleted }),
    object && part === 'logs' && withLogs && h(ObjectLogs, { resource, object }),
    object && (part === '' || !Object.hasOwn(PARTS, part)) && h(ObjectSummary, { route, object, isDeleted }),
  ]);
}
