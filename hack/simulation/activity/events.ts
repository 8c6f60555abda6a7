// Events of the simulated kubelets. kube-apiserver deletes events after an hour.
import { randomUUID } from 'node:crypto';
import type { Client } from '../../control-plane/client.ts';

interface EventObject {
  readonly kind: 'Job' | 'Node' | 'Pod';
  readonly name: string;
  /** Undefined for a node. */
  readonly namespace?: string;
  readonly uid?: string;
}

interface EventText {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

export async function recordEvent(
  client: Client,
  { kind, name, namespace, uid }: EventObject,
  event: EventText,
  signal: AbortSignal,
): Promise<void> {
  const place = namespace ?? 'default';
  const now = new Date().toISOString().replace(/\.\d+/, '');
  const apiVersion = kind === 'Job' ? 'batch/v1' : 'v1';
  const body = {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: `${name}.${randomUUID().slice(0, 13)}`, namespace: place },
    involvedObject: { apiVersion, kind, name, namespace, uid: uid ?? name },
    ...event,
    source: { component: kind === 'Job' ? 'job-controller' : 'kubelet' },
    firstTimestamp: now,
    lastTimestamp: now,
    count: 1,
  };
  await client.expect(`/api/v1/namespaces/${place}/events`, { method: 'POST', body, signal }, [201]);
}
