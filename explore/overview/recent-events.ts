// What changed in the last minutes: the newest events, live.
import type { KubernetesObject } from 'ks-apiserver-client';
import { type ComponentChildren, h } from 'preact';
import { useExplore } from '../context.ts';
import { resourceOf } from '../kinds.ts';
import { link, queryOf } from '../route.ts';
import { Failure } from '../ui/notice.ts';
import { RelativeTime } from '../ui/relative-time.ts';
import { useLive } from '../ui/use-live.ts';

const SHOWN = 15;

interface Event extends KubernetesObject {
  readonly type?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly count?: number;
  readonly lastTimestamp?: string | null;
  readonly eventTime?: string | null;
  readonly involvedObject?: {
    readonly apiVersion?: string;
    readonly kind?: string;
    readonly namespace?: string;
    readonly name?: string;
  };
}

export function RecentEvents({ namespace }: { readonly namespace: string }): ComponentChildren {
  const { client } = useExplore();
  const query = { sortBy: 'lastTimestamp', limit: SHOWN, ...(namespace === '' ? {} : { namespace }) };
  const live = useLive((options) => client.lists.live<Event>('events', query, options), namespace);
  const { value: page, error, retry } = live;
  const all = link({
    view: 'list',
    resource: 'events',
    query: queryOf({ namespace, sortBy: 'lastTimestamp' }),
  });
  return h('section', { class: 'events card', 'aria-labelledby': 'events', 'aria-busy': !page && !error }, [
    h('h2', { id: 'events' }, ['Recent events', h('a', all, 'All events')]),
    error && h(Failure, { error, retry }),
    page?.items.length === 0 && h('p', { class: 'muted' }, 'Nothing has happened in the last hour.'),
    h(
      'ol',
      { class: 'divided' },
      page?.items.map((event) => h('li', { key: event.metadata.uid }, h(EventLine, { event }))),
    ),
  ]);
}

function EventLine({ event }: { readonly event: Event }): ComponentChildren {
  const { kinds } = useExplore();
  const { type = '', reason = '', message = '', count = 1, involvedObject = {} } = event;
  const { kind = '', name = '', namespace } = involvedObject;
  const resource = resourceOf(kinds, involvedObject);
  const target = `${kind} ${name}`;
  return [
    h('span', { class: 'status', 'data-tone': type === 'Warning' ? 'warn' : 'idle' }, [
      type === 'Warning' && h('span', { class: 'hidden-text' }, 'Warning: '),
      reason,
      count > 1 && h('span', { class: 'muted' }, `×${count}`),
    ]),
    h(RelativeTime, { time: event.lastTimestamp ?? event.eventTime ?? event.metadata.creationTimestamp }),
    h('p', {}, [
      resource !== undefined && name !== ''
        ? h('a', link({ view: 'object', resource, namespace, name, query: new URLSearchParams() }), target)
        : target,
      namespace !== undefined && h('span', { class: 'muted' }, ` in ${namespace}`),
      h('span', {}, message),
    ]),
  ];
}
