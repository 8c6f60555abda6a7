// The pods of the applications in the simulated cluster.
import { array, record, recordIn, text } from '../../../apis/reading/unknown-value.ts';
import type { Client } from '../../control-plane/client.ts';
import { APPLICATIONS, type Application, REPORT } from '../applications.ts';

export interface SimulatedPod {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly application: Application;
  readonly isRunning: boolean;
  /** Status of its only container; empty before the container has started. */
  readonly container: Readonly<Record<string, unknown>>;
}

const KNOWN = [...APPLICATIONS, REPORT];

/** From the cache of kube-apiserver, because the caller reads often. Without terminating pods. */
export async function listPods(client: Client, signal: AbortSignal): Promise<SimulatedPod[]> {
  const path = '/api/v1/pods?labelSelector=app.kubernetes.io%2Fname&resourceVersion=0';
  return array(record(await client.get(path, signal))['items']).flatMap((pod) => {
    const { namespace, name, uid, labels, deletionTimestamp } = recordIn(pod, 'metadata');
    const application = KNOWN.find(
      (one) => one.namespace === namespace && one.name === record(labels)['app.kubernetes.io/name'],
    );
    if (application === undefined || deletionTimestamp !== undefined) return [];
    const status = recordIn(pod, 'status');
    return {
      namespace: text(namespace),
      name: text(name),
      uid: text(uid),
      application,
      isRunning: status['phase'] === 'Running',
      container: record(array(status['containerStatuses'])[0]),
    };
  });
}

/** Whether the container waits for its next restart. */
export function isCrashed({ container }: SimulatedPod): boolean {
  return recordIn(container, 'state')['waiting'] !== undefined;
}
