// What changed in the last minutes: the newest events, of the cluster, a namespace or an object, live.
import { type KubernetesObject, kindOfReference, textAt } from 'ks-apiserver-client';
import { type ComponentChildren, h } from 'preact';
import { type Kinds, useExplore } from '../context.ts';
import { listURL, objectURL } from '../route.ts';
import { failure } from '../ui/notice.ts';
import { useLive } from '../ui/use-live.ts';
import { RelativeTime } from '../ui/values.ts';

const SORT_BY = 'lastTimestamp';
const SHOWN = 15;

export interface RecentEventsProps {
  readonly title: string;
  /** Parameters of the list. */
  readonly filter: { readonly namespace?: string | undefined; readonly fieldSelector?: string };
}

export function RecentEvents({ title, filter }: RecentEventsProps): ComponentChildren {
  const { client, kinds } = useExplore();
  const query = { ...filter, sortBy: SORT_BY, limit: SHOWN };
  const live = useLive((options) => client.lists.live('events', query, options), JSON.stringify(filter));
  const { value: page, error, retry } = live;
  const hasObject = filter.fieldSelector === undefined;
  const items = page?.items.map((event) => eventItem(event, kinds, hasObject));
  const href = listURL('events', { ...filter, sortBy: SORT_BY });
  return h('section', { class: 'events card', 'aria-label': title, 'aria-busy': !page && !error }, [
    h('h2', {}, [title, h('a', { href }, 'All events')]),
    error && failure(error, retry),
    page?.items.length === 0 && h('p', { class: 'muted' }, 'Nothing has happened in the last hour.'),
    h('ol', { class: 'divided' }, items),
  ]);
}

function eventItem(event: KubernetesObject, kinds: Kinds, hasObject: boolean): ComponentChildren {
  const [reason, message, count] = ['reason', 'message', 'count'].map((name) => textAt(event, name));
  const time = textAt(event, 'lastTimestamp') || textAt(event, 'eventTime');
  const isWarning = textAt(event, 'type') === 'Warning';
  return h('li', { key: event.metadata.uid, class: 'row' }, [
    h('span', { class: 'status fill', 'data-tone': isWarning ? 'warn' : 'idle' }, [
      isWarning && h('span', { class: 'hidden-text' }, 'Warning: '),
      reason,
      Number(count) > 1 && h('span', { class: 'muted' }, `×${count}`),
    ]),
    h('span', { class: 'muted small' }, h(RelativeTime, { time })),
    h('p', { class: 'small' }, [
      hasObject && involvedObject(event, kinds),
      h('span', { class: 'muted clamp' }, message),
    ]),
  ]);
}

function involvedObject(event: KubernetesObject, kinds: Kinds): ComponentChildren {
  const involved = (member: string): string => textAt(event, `involvedObject.${member}`);
  const [kind, name, namespace] = [involved('kind'), involved('name'), involved('namespace')];
  const known = kindOfReference(kinds.values(), { apiVersion: involved('apiVersion'), kind });
  const text = `${kind} ${name}`;
  const place = { namespace: namespace || undefined, name };
  return [
    known && name !== '' ? h('a', { href: objectURL(known.resource, place) }, text) : text,
    namespace !== '' && ` in ${namespace}`,
  ];
}
