// The logs of the pods of an object.
import type { KubernetesObject } from 'ks-apiserver-client';
import { type ComponentChildren, h } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { useExplore } from '../context.ts';
import { PodLogs } from '../logs/pod-logs.ts';
import { Failure, Notice } from '../ui/notice.ts';
import { selectorOf } from './relations.ts';

/** Pods whose lines are shown. */
const MAX_PODS = 50;

export function hasLogs(resource: string, object: KubernetesObject): boolean {
  return resource === 'pods' || selectorOf(resource, object) !== '';
}

export interface ObjectLogsProps {
  readonly resource: string;
  readonly object: KubernetesObject;
}

export function ObjectLogs({ resource, object }: ObjectLogsProps): ComponentChildren {
  const { client } = useExplore();
  const { name, namespace = '' } = object.metadata;
  const labelSelector = selectorOf(resource, object);
  const [pods, setPods] = useState<readonly string[] | undefined>(resource === 'pods' ? [name] : undefined);
  const [error, setError] = useState<Error>();
  useEffect(() => {
    if (resource === 'pods') return undefined;
    const closed = new AbortController();
    client.lists.page('pods', { namespaces: [namespace], labelSelector, limit: MAX_PODS }, closed).then(
      ({ items }) => setPods(items.map(({ metadata }) => metadata.name)),
      (cause: Error) => closed.signal.aborted || setError(cause),
    );
    return () => closed.abort();
  }, [resource, namespace, labelSelector]);
  if (error) return h(Failure, { error });
  if (!pods) return h('p', { class: 'muted', role: 'status' }, 'Loading the pods…');
  // Without names, a query would select the pods of the whole namespace.
  if (pods.length === 0) return h(Notice, { tone: 'idle' }, 'The object has no pods.');
  return h(PodLogs, { namespace, pods });
}
