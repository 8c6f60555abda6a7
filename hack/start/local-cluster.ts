// Starts the local cluster of `npm start`: a control plane with simulated nodes, and ks-apiserver, registered there as an
// aggregated API. The cluster data outlives the processes.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { record } from '../../apis/reading/unknown-value.ts';
import { groupName, VERSION } from '../../apis/resources/v1alpha3/group-version.ts';
import type { Client } from '../control-plane/client.ts';
import { type ControlPlane, startControlPlane } from '../control-plane/control-plane.ts';
import { API, areInstalled, SIMULATION } from '../control-plane/programs.ts';
import { apply, available, grant, register, serviceAccountOf } from '../extension/registration.ts';
import type { Names } from '../generate/names.ts';
import { writeLauncher } from '../kubelogin/launcher.ts';
import { Activity } from '../simulation/activity/activity.ts';
import { podLogs, startKwok } from '../simulation/kwok.ts';
import { nodeName } from '../simulation/realistic-node.ts';
import { createCluster } from '../simulation/simulated-cluster.ts';
import { until } from '../system/until.ts';
import type { Progress } from '../terminal/progress.ts';
import { type Administrator, ensureAdministrator } from './administrator.ts';
import { aggregateRoles } from './aggregated-roles.ts';
import { localAnnouncement } from './announcement.ts';
import { areTokensAccepted, type DevelopmentServer, prepareServer } from './development-server.ts';
import { writeEnvironmentFile } from './environment-file.ts';
import { exampleObjects } from './examples.ts';
import { requireFree } from './server-ports.ts';
import { type Steps, stepsWith } from './steps.ts';
import { prepareTokenTrust, type TokenTrust } from './token-trust.ts';

interface LocalOptions {
  readonly root: string;
  readonly names: Names;
  readonly nodes: number;
  /** Whether the simulated objects and logs change. */
  readonly isLively: boolean;
  readonly port: number | undefined;
  /** Origin of a console that is developed. */
  readonly console: string | undefined;
  /** Aborted with the reason if a program dies. */
  readonly life: AbortController;
  readonly progress: Progress;
  /** Starts the server and waits until it is ready. */
  readonly startServer: (cp: ControlPlane, server: DevelopmentServer, signal: AbortSignal) => Promise<void>;
}

/** Number of simulated pods, few enough to look at. */
const PODS = 12;

/** Nodes on which pods run: node 0 is a control-plane node, node 4 is cordoned. */
const WORKERS = [1, 2, 3];

/** Time until kube-apiserver has fetched the OpenAPI of the server, in ms. */
const DESCRIBED_TIMEOUT_MS = 20_000;

/** Time until kube-apiserver has fetched the keys of the server, which it tries every ten seconds, in ms. */
const TRUSTED_TIMEOUT_MS = 30_000;

/** Resolves with the announcement when the APIService is Available. The programs then run until `life` aborts. */
export async function startLocal(
  options: LocalOptions,
): Promise<{ announcement: string; stop(): Promise<void> }> {
  const { progress, life, names, port } = options;
  // Check the port before the control plane starts.
  if (port !== undefined) await requireFree(port);
  const step = stepsWith(progress);
  const dir = join(options.root, '.local');
  await mkdir(dir, { recursive: true });
  const isSimulated = !(await hasOnlyAssets(life.signal));
  const trust = await prepareTokenTrust(join(dir, 'authentication-configuration.yaml'));
  const cp = await step('Control plane', (progress) =>
    startControlPlane({
      dir: join(dir, 'control-plane'),
      keep: true,
      controllers: isSimulated,
      extraApiserverFlags: [trust.flag],
      signal: life.signal,
      progress,
    }),
  );
  void cp.failure.then((error) => life.abort(error));
  const stop = async (): Promise<void> => {
    await cp.stop();
    await trust.withdraw();
  };
  try {
    const { server, administrator } = await setUp(cp, step, { ...options, dir, isSimulated, trust });
    const announcement = localAnnouncement({
      names,
      isSimulated,
      loadEnvironment: await writeEnvironmentFile(dir, {
        server,
        kubeconfig: cp.kubeconfig,
        kubectl: cp.kubectl,
        kubelogin: await writeLauncher(join(dir, 'bin')),
      }),
      server,
      administrator,
      logs: join(cp.dir, 'logs'),
      state: dir,
    });
    if (isSimulated && options.isLively) startActivity(cp, options);
    return { announcement, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** When the server is ready, so that the start takes no longer. */
function startActivity(cp: ControlPlane, { nodes, life, progress }: LocalOptions): void {
  const activity = new Activity({
    client: cp.client,
    logs: join(podLogs(cp.folder), 'pods'),
    nodes: WORKERS.filter((index) => index < Math.max(2, nodes)).map((index) =>
      nodeName(Math.min(index, nodes - 1)),
    ),
  });
  activity.run(life.signal).catch((error: unknown) => {
    progress(`the simulated cluster stopped changing: ${String(error)}`);
  });
}

/** With the programs of envtest, nothing is built: the control plane then has no controllers and no kubelets. */
async function hasOnlyAssets(signal: AbortSignal): Promise<boolean> {
  if ((process.env['KUBEBUILDER_ASSETS'] ?? '') === '') return false;
  return (await areInstalled(API, { signal })) && !(await areInstalled(SIMULATION, { signal }));
}

async function setUp(
  cp: ControlPlane,
  step: Steps,
  options: LocalOptions & { dir: string; isSimulated: boolean; trust: TokenTrust },
): Promise<{ server: DevelopmentServer; administrator: Administrator }> {
  const { names, nodes, life, isSimulated } = options;
  const { signal } = life;
  await step(`Simulated nodes (${nodes})`, (progress) => {
    if (isSimulated) return startKwok(cp, { nodes, pods: PODS, hasPodLogs: true, signal, progress });
    const kubelet = { address: '127.0.0.1', port: cp.ports.kwok };
    return createCluster(cp.client, { nodes, pods: 0, kubelet, signal, progress });
  });
  const cluster = { kubectl: cp.kubectl, kubeconfig: cp.kubeconfig, names };
  const server = await prepareServer({
    dir: join(options.dir, 'server'),
    names,
    // Exactly the permissions of the manifests.
    kubeconfig: await cp.kubeconfigFor(serviceAccountOf(names)),
    port: options.port,
    console: options.console,
    registered: true,
  });
  const port = server.ports.secure;
  const administrator = await step('Manifests', async () => {
    await grant(cluster, port, signal);
    const password = join(options.dir, 'server/password.json');
    const [administrator] = await Promise.all([
      ensureAdministrator(cp.client, names, password, signal),
      // Node 0 is a control-plane node.
      apply(cluster, exampleObjects(names, nodeName(Math.min(1, nodes - 1))), signal),
    ]);
    if (!isSimulated) await aggregateRoles(cp.client, signal);
    return administrator;
  });
  await step('Server', () => options.startServer(cp, server, signal));
  // Before the next steps, because kube-apiserver fetches the keys of a new issuer only every ten seconds.
  const { issuer, caFile } = server;
  await options.trust.establish({ issuer, caFile, audience: names.platform });
  await step('APIService', async () => {
    await register(cluster, port, signal);
    await available(cluster, signal);
  });
  const described = await step('API description', () =>
    isMet((bound) => isDescribed(cp.client, names, bound), DESCRIBED_TIMEOUT_MS, signal),
  );
  if (!described)
    options.progress(
      'kube-apiserver has not fetched the OpenAPI yet: kubectl explain works in a minute or two',
    );
  // Otherwise the first page after the sign-in would say that kube-apiserver rejects the user.
  const trusted = await step('Access tokens', () =>
    isMet((bound) => areTokensAccepted(server, bound), TRUSTED_TIMEOUT_MS, signal),
  );
  if (!trusted)
    options.progress('kube-apiserver does not accept the tokens of the server yet: /readyz?verbose says why');
  return { server, administrator };
}

/** Whether kube-apiserver serves the OpenAPI of our group, for `kubectl explain`. */
async function isDescribed(client: Client, { platform }: Names, signal: AbortSignal): Promise<boolean> {
  const path = `apis/${groupName(platform)}/${VERSION}`;
  return Object.hasOwn(record(record(await client.get('/openapi/v3', signal))['paths']), path);
}

/** Waits for a condition; false after the timeout. */
function isMet(
  condition: (signal: AbortSignal) => Promise<boolean>,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  return until(condition, { signal, timeoutMs }).then(
    () => true,
    () => {
      signal.throwIfAborted();
      return false;
    },
  );
}
