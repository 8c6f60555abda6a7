// The view of one object: what it is, its YAML, and what belongs to it.
import { type ComponentChildren, h } from 'preact';
import { useExplore } from '../context.ts';
import { titleOf } from '../kinds.ts';
import { link, listRoute, type ObjectRoute, withQuery } from '../route.ts';
import { Failure, Notice } from '../ui/notice.ts';
import { RelativeTime } from '../ui/relative-time.ts';
import { Status } from '../ui/status.ts';
import { hasLogs, ObjectLogs } from './object-logs.ts';
import { ObjectSummary } from './object-summary.ts';
import { type ShownObject, useObject } from './use-object.ts';
import { YamlPanel } from './yaml-panel.ts';

const PARTS = { '': 'Summary', yaml: 'YAML', logs: 'Logs' } as const;

export function ObjectView({ route }: { readonly route: ObjectRoute }): ComponentChildren {
  const { resource, namespace, name } = route;
  const { kinds } = useExplore();
  const shown = useObject(route);
  const { object, status, isDeleted, isStill, error, retry } = shown;
  return h('div', { class: 'stack' }, [
    h('nav', { class: 'row', 'aria-label': 'Path' }, [
      h('a', link(listRoute(resource)), titleOf(resource, kinds)),
      namespace !== undefined && [
        h('span', { class: 'muted', 'aria-hidden': true }, '/'),
        h('a', link(listRoute(resource, { namespace })), namespace),
      ],
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
        { tone: 'info', action: ['Load again', retry] },
        'Lists do not contain this object, so the page does not follow its changes.',
      ),
    error && h(Failure, { error, retry }),
    object && h(Parts, { route, object }),
    !object && !error && h('p', { class: 'muted', role: 'status' }, 'Loading the object…'),
  ]);
}

interface PartsProps {
  readonly route: ObjectRoute;
  readonly object: NonNullable<ShownObject['object']>;
}

function Parts({ route, object }: PartsProps): ComponentChildren {
  const { resource, query } = route;
  const { kinds } = useExplore();
  const withLogs = hasLogs({ resource, object });
  const part = query.get('part') ?? '';
  const parts = Object.entries(PARTS).map(([key, title]) => {
    const props = {
      ...link(withQuery(route, { part: key })),
      'aria-current': key === part ? ('page' as const) : undefined,
    };
    return (key !== 'logs' || withLogs) && h('a', props, title);
  });
  const content =
    part === 'yaml'
      ? h(YamlPanel, { object, kind: kinds.get(resource) })
      : part === 'logs' && withLogs
        ? h(ObjectLogs, { resource, object })
        : h(ObjectSummary, { resource, object });
  return [h('nav', { class: 'parts', 'aria-label': 'Parts' }, parts), content];
}
