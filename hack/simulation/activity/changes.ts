// Changes of single objects of the simulated cluster: roll-outs, scaling, crashes and the memory pressure of nodes.
import { recordIn, text } from '../../../apis/reading/unknown-value.ts';
import type { Client } from '../../control-plane/client.ts';
import type { Application } from '../applications.ts';
import { START_SLOWLY } from '../slow-stages.ts';
import { recordEvent } from './events.ts';
import type { SimulatedPod } from './simulated-pods.ts';

/** Old ReplicaSets of each Deployment. */
const REVISIONS = 3;

/** Starts a roll-out of another version, on another node because no scheduler runs. */
export function rollOut(
  client: Client,
  application: Application,
  { version, nodeName }: { version: string; nodeName: string },
  signal: AbortSignal,
): Promise<void> {
  const { name, image } = application;
  const container = { name, image: image.replace(/:.*/, `:${version}`) };
  const template = {
    metadata: { annotations: START_SLOWLY },
    spec: { nodeName, containers: [container] },
  };
  return patch(
    client,
    deploymentPath(application),
    { spec: { revisionHistoryLimit: REVISIONS, template } },
    signal,
  );
}

export function scale(
  client: Client,
  application: Application,
  replicas: number,
  signal: AbortSignal,
): Promise<void> {
  return patch(client, deploymentPath(application), { spec: { replicas } }, signal);
}

/** The container terminates with an error, and waits in CrashLoopBackOff until `recover`. */
export async function crash(client: Client, pod: SimulatedPod, signal: AbortSignal): Promise<void> {
  const { startedAt } = recordIn(pod.container['state'], 'running');
  const now = new Date().toISOString();
  const terminated = { exitCode: 1, reason: 'Error', startedAt: text(startedAt) || now, finishedAt: now };
  const message = `back-off 10s restarting failed container=${pod.application.name}`;
  await setContainer(
    client,
    pod,
    {
      ready: false,
      started: false,
      lastState: { terminated },
      state: { waiting: { reason: 'CrashLoopBackOff', message } },
    },
    signal,
  );
  await recordEvent(
    client,
    { kind: 'Pod', ...pod },
    { type: 'Warning', reason: 'BackOff', message: 'Back-off restarting failed container' },
    signal,
  );
}

/** `pod`: as it is after the crash. */
export async function recover(client: Client, pod: SimulatedPod, signal: AbortSignal): Promise<void> {
  const restartCount = Number(pod.container['restartCount'] ?? 0) + 1;
  const state = { running: { startedAt: new Date().toISOString() } };
  await setContainer(client, pod, { ready: true, started: true, restartCount, state }, signal);
  const message = `Started container ${pod.application.name}`;
  await recordEvent(client, { kind: 'Pod', ...pod }, { type: 'Normal', reason: 'Started', message }, signal);
}

/** `isPressed`: whether the kubelet reports too little memory. */
export async function setMemoryPressure(
  client: Client,
  node: string,
  isPressed: boolean,
  signal: AbortSignal,
): Promise<void> {
  const reason = isPressed ? 'KubeletHasInsufficientMemory' : 'KubeletHasSufficientMemory';
  const condition = {
    type: 'MemoryPressure',
    status: isPressed ? 'True' : 'False',
    reason,
    message: isPressed
      ? 'kubelet has insufficient memory available'
      : 'kubelet has sufficient memory available',
    lastTransitionTime: new Date().toISOString(),
  };
  await patch(client, `/api/v1/nodes/${node}/status`, { status: { conditions: [condition] } }, signal);
  const event = isPressed ? 'NodeHasInsufficientMemory' : 'NodeHasSufficientMemory';
  const type = isPressed ? 'Warning' : 'Normal';
  const message = `Node ${node} status is now: ${event}`;
  await recordEvent(client, { kind: 'Node', name: node }, { type, reason: event, message }, signal);
}

/** Strategic merge: conditions by type, containers by name. An object that is missing meanwhile stays missing. */
export async function patch(client: Client, path: string, body: object, signal: AbortSignal): Promise<void> {
  const contentType = 'application/strategic-merge-patch+json';
  await client.expect(path, { method: 'PATCH', body, contentType, signal }, [200, 404]);
}

function deploymentPath({ namespace, name }: Application): string {
  return `/apis/apps/v1/namespaces/${namespace}/deployments/${name}`;
}

async function setContainer(
  client: Client,
  { namespace, name, container }: SimulatedPod,
  changes: { readonly ready: boolean } & Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<void> {
  const condition = (type: string): object => ({
    type,
    status: changes.ready ? 'True' : 'False',
    reason: changes.ready ? null : 'ContainersNotReady',
    lastTransitionTime: new Date().toISOString(),
  });
  const status = {
    conditions: ['Ready', 'ContainersReady'].map(condition),
    containerStatuses: [{ ...container, ...changes }],
  };
  await patch(client, `/api/v1/namespaces/${namespace}/pods/${name}/status`, { status }, signal);
}
