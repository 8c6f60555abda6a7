// The view of one object: what it is, its YAML, and what belongs to it. It follows the changes of the object.
import { fieldTerm, type ListPage, relatedLogs, StatusError, statusOf } from 'ks-apiserver-client';
import { type ComponentChildren, h } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { pathOfKind, titleOf, useExplore } from '../context.ts';
import { changedURL, listURL, logsURL, namesOf, type ObjectNames } from '../route.ts';
import { failure, loading, notice } from '../ui/notice.ts';
import { useLive, useLoaded } from '../ui/use-live.ts';
import { RelativeTime, statusWord } from '../ui/values.ts';
import { objectSummary } from './object-summary.ts';
import { YamlPanel } from './yaml-panel.ts';

const STILL = 'Lists do not contain this object. Its changes are not shown.';

export function ObjectView(): ComponentChildren {
  const { kinds, route } = useExplore();
  const { resource, namespace, name } = namesOf(route);
  const { object, status, isDeleted, isStill, error, retry } = useObject({ resource, namespace, name });
  const isYAML = route.query.get('part') === 'yaml';
  const logs = object && relatedLogs(resource, object);
  return h('div', { class: 'stack' }, [
    h('nav', { 'aria-label': 'Path' }, [
      h('a', { href: listURL(resource) }, titleOf(resource, kinds)),
      namespace !== undefined && [' / ', h('a', { href: listURL(resource, { namespace }) }, namespace)],
    ]),
    h('div', { class: 'row' }, [
      h('h1', { tabIndex: -1 }, h('bdi', {}, name)),
      isDeleted ? statusWord('Deleted') : status !== undefined && statusWord(status),
      object &&
        h('span', { class: 'muted' }, ['Age ', h(RelativeTime, { time: object.metadata.creationTimestamp })]),
    ]),
    isDeleted && notice('bad', 'The object has been deleted. This is its last state.'),
    isStill && notice('info', STILL, ['Load again', retry]),
    error && failure(error, retry),
    !object && !error && loading('Loading the object…'),
    object && [
      h('nav', { class: 'row', 'aria-label': 'Parts' }, [
        part('Summary', changedURL(route, { part: '' }), !isYAML),
        part('YAML', changedURL(route, { part: 'yaml' }), isYAML),
        logs && part('Logs', logsURL({ ...logs, last: '24h', follow: 'true' }), false),
      ]),
      isYAML ? h(YamlPanel, { object, kind: kinds.get(resource) }) : objectSummary(resource, object, kinds),
    ],
  ]);
}

function part(title: string, href: string, isCurrent: boolean): ComponentChildren {
  return h('a', { class: 'item', href, 'aria-current': isCurrent ? 'page' : undefined }, title);
}

/** From a live list, or once from kube-apiserver if lists do not serve the kind or the caller may only get the object. */
function useObject({ resource, namespace, name }: ObjectNames) {
  const { client, kinds } = useExplore();
  const kind = kinds.get(resource);
  const query = { fieldSelector: fieldTerm('metadata.name', name), columns: true, limit: 1, namespace };
  /** Also after a deletion. */
  const [last, setLast] = useState<ListPage>();
  const { value, error, connection, retry } = useLive(
    (options) => client.lists.live(resource, query, options),
    JSON.stringify([resource, query]),
  );
  useEffect(() => {
    if (value && value.totalItems > 0) setLast(value);
  }, [value]);
  // A server that cannot list the kind is asked again and again.
  const isUnlisted = (connection?.state === 'waiting' ? connection.error : error) instanceof StatusError;
  const unlisted = isUnlisted ? kind : undefined;
  const load = async (signal: AbortSignal) =>
    unlisted && client.kubernetes.get(pathOfKind(unlisted, { namespace, name }), { signal });
  const got = useLoaded(load, [unlisted]);
  const isMissing = value?.totalItems === 0;
  const failed = unlisted ? got.error : error;
  return {
    object: last?.items[0] ?? got.value,
    /** Undefined if the object has none, or if lists do not serve the kind. */
    status: last && statusOf(last, 0),
    isDeleted: isMissing && last !== undefined,
    /** The object does not change on the page. */
    isStill: !last && got.value !== undefined,
    error: isMissing && !last ? new Error(`${resource} "${name}" does not exist`) : failed,
    retry,
  };
}
