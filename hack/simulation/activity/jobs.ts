// Jobs of the simulated cluster. This file takes the place of the Job controller, which does not run there.
import { setTimeout as delay } from 'node:timers/promises';
import { array, record, recordIn, text } from '../../../apis/reading/unknown-value.ts';
import type { Client } from '../../control-plane/client.ts';
import { REPORT } from '../applications.ts';
import { START_SLOWLY } from '../slow-stages.ts';
import { patch } from './changes.ts';
import { recordEvent } from './events.ts';

const { namespace: NAMESPACE, name: CONTAINER, image, requests } = REPORT;
const JOBS = `/apis/batch/v1/namespaces/${NAMESPACE}/jobs`;
const PODS = `/api/v1/namespaces/${NAMESPACE}/pods`;
const LABELS = { 'app.kubernetes.io/name': CONTAINER } as const;
/** Finished Jobs that are kept. */
const KEPT = 5;
const POLL_MS = 1_000;

/** Creates a Job, and resolves when the Job is complete. */
export async function runJob(
  client: Client,
  job: { readonly name: string; readonly nodeName: string },
  signal: AbortSignal,
): Promise<void> {
  await deleteOldest(client, signal);
  const { name, nodeName } = job;
  const container = { name: CONTAINER, image, resources: { requests } };
  const template = {
    metadata: { labels: LABELS, annotations: START_SLOWLY },
    spec: { nodeName, restartPolicy: 'Never', containers: [container] },
  };
  const metadata = { name, namespace: NAMESPACE, labels: LABELS };
  const body = {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata,
    spec: { managedBy: 'simulation.example.com/jobs', template },
  };
  const created = await client.expect(JOBS, { method: 'POST', body, signal }, [201]);
  const uid = text(recordIn(JSON.parse(created.body), 'metadata')['uid']);
  const owner = { apiVersion: 'batch/v1', kind: 'Job', name, uid, controller: true };
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...template.metadata,
      name: `${name}-${uid.slice(0, 5)}`,
      labels: { ...LABELS, 'job-name': name },
      ownerReferences: [owner],
    },
    spec: template.spec,
  };
  await client.expect(PODS, { method: 'POST', body: pod, signal }, [201]);
  const status = (fields: object): Promise<void> =>
    patch(client, `${JOBS}/${name}/status`, { status: fields }, signal);
  const startTime = timeOf(Date.now());
  await status({ startTime, active: 1 });
  await untilSucceeded(client, `${PODS}/${pod.metadata.name}`, signal);
  const completionTime = timeOf(Date.now());
  const condition = (type: string): object => ({ type, status: 'True', lastTransitionTime: completionTime });
  const conditions = ['SuccessCriteriaMet', 'Complete'].map(condition);
  await status({ startTime, completionTime, active: 0, succeeded: 1, conditions });
  const completed = { type: 'Normal', reason: 'Completed', message: 'Job completed' } as const;
  await recordEvent(client, { kind: 'Job', name, namespace: NAMESPACE, uid }, completed, signal);
}

/** The garbage collector deletes the pods. */
async function deleteOldest(client: Client, signal: AbortSignal): Promise<void> {
  const list = await client.get(`${JOBS}?labelSelector=app.kubernetes.io%2Fname%3D${CONTAINER}`, signal);
  const jobs = array(record(list)['items'])
    .map((job) => recordIn(job, 'metadata'))
    .map(({ name, creationTimestamp }) => ({ name: text(name), created: text(creationTimestamp) }))
    .sort((left, right) => left.created.localeCompare(right.created));
  for (const { name } of jobs.slice(0, Math.max(0, jobs.length - KEPT))) {
    const path = `${JOBS}/${name}?propagationPolicy=Background`;
    await client.expect(path, { method: 'DELETE', signal }, [200, 404]);
  }
}

/** Also if the pod is deleted meanwhile. */
async function untilSucceeded(client: Client, pod: string, signal: AbortSignal): Promise<void> {
  for (;;) {
    await delay(POLL_MS, undefined, { signal });
    const { status, body } = await client.expect(pod, { signal }, [200, 404]);
    if (status === 404 || recordIn(JSON.parse(body), 'status')['phase'] === 'Succeeded') return;
  }
}

/** Kubernetes stores whole seconds. */
function timeOf(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+/, '');
}
