// The logs of the pods of an object.
import type { KubernetesObject } from 'ks-apiserver-client';
import { type ComponentChildren, h } from 'preact';
import { useExplore } from '../context.ts';
import { PodLogs } from '../logs/pod-logs.ts';
import { Failure, Notice } from '../ui/notice.ts';
import { useLoaded } from '../ui/use-live.ts';
import { selectorOf } from './relations.ts';

/** Pods whose lines are shown. */
const MAX_PODS = 50;

export interface ObjectLogsProps {
  readonly resource: string;
  readonly object: KubernetesObject;
}

export function hasLogs({ resource, object }: ObjectLogsProps): boolean {
  return resource === 'pods' || selectorOf(resource, object) !== '';
}

export function ObjectLogs({ resource, object }: ObjectLogsProps): ComponentChildren {
  const { client } = useExplore();
  const { name, namespace = '' } = object.metadata;
  const labelSelector = selectorOf(resource, object);
  const query = { namespaces: [namespace], labelSelector, limit: MAX_PODS };
  const load = async (signal: AbortSignal): Promise<readonly string[]> => {
    if (resource === 'pods') return [name];
    const { items } = await client.lists.page('pods', query, { signal });
    return items.map(({ metadata }) => metadata.name);
  };
  const { value: pods, error } = useLoaded(load, [name, labelSelector]);
  if (error) return h(Failure, { error });
  if (!pods) return h('p', { class: 'muted', role: 'status' }, 'Loading the pods…');
  // Without names, a query would select the pods of the whole namespace.
  if (pods.length === 0) return h(Notice, { tone: 'idle' }, 'The object has no pods.');
  return h(PodLogs, { namespace, pods });
}
