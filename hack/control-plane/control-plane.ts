// Starts a Kubernetes control plane for development, tests and benchmarks: etcd, kube-apiserver and controllers. All
// programs listen on loopback ports.
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Daemon, DaemonError } from '../system/daemon.ts';
import { withPortRetry } from '../system/port-retry.ts';
import { choosePorts, type Ports } from '../system/ports.ts';
import type { Progress } from '../terminal/progress.ts';
import { Apiserver } from './apiserver.ts';
import { Client } from './client.ts';
import { ControllerManager } from './controller-manager.ts';
import { Etcd } from './etcd.ts';
import { type Folder, openFolder, type ProgramFiles } from './folder.ts';
import { writeKubeconfig } from './kubeconfig.ts';
import { openPki, type PairFiles, type Pki, readPair } from './pki.ts';
import { API, findPrograms, type Paths } from './programs.ts';

interface ControlPlaneOptions {
  /** Folder of the state, created if missing. Only one control plane can use it at a time. */
  readonly dir: string;
  /** Aborts the start, or stops the running control plane; stop() resolves when it has stopped. */
  readonly signal: AbortSignal;
  /** Keeps the state for the next start; by default stop() deletes it. */
  readonly keep?: boolean;
  /** Whether controllers run: by default those that tests need; `all`: the complete kube-controller-manager. */
  readonly controllers?: boolean | 'all';
  /** Further addresses of kube-apiserver, for its serving certificate. */
  readonly addresses?: readonly string[];
  readonly extraApiserverFlags?: readonly string[];
  readonly progress?: Progress;
}

export interface ControlPlane {
  readonly dir: string;
  readonly folder: Folder;
  /** `https://127.0.0.1:PORT` of kube-apiserver. */
  readonly url: string;
  /** CA of kube-apiserver, PEM. */
  readonly ca: string;
  /** Path of the administrator's kubeconfig. */
  readonly kubeconfig: string;
  /** Path of a kubectl of the same version. */
  readonly kubectl: string;
  readonly pki: Pki;
  readonly ports: Ports;
  /** A client with administrator credentials. */
  readonly client: Client;
  readonly etcd: Etcd;
  readonly apiserver: Apiserver;
  readonly controllerManager: ControllerManager | undefined;
  /** Resolves with the error when a program exits unexpectedly; else never. */
  readonly failure: Promise<DaemonError>;
  /** Writes a kubeconfig with a client certificate of the user, and returns its path. */
  kubeconfigFor(user: { name: string; groups?: readonly string[] }): Promise<string>;
  /** Starts a further program, such as KWOK, which is stopped before the control plane. */
  launch(
    name: string,
    make: (place: ProgramFiles, failed: (error: DaemonError) => void) => Daemon,
  ): Promise<void>;
  /** Stops every process; all calls return the same promise. */
  stop(): Promise<void>;
}

const CLUSTER = 'ks-apiserver-dev';

/** Starts the programs and waits until they are ready. After a failure nothing runs; the logs stay. */
export async function startControlPlane(options: ControlPlaneOptions): Promise<ControlPlane> {
  const folder = await openFolder(resolve(options.dir));
  try {
    const { controllers = true } = options;
    const program = controllers === 'all' ? 'kubeControllerManager' : 'controllers';
    const programs = await findPrograms(controllers === false ? API : [...API, program], options);
    return await withPortRetry(() => startIn(folder, programs, options));
  } catch (error) {
    await folder.release();
    throw error;
  }
}

async function startIn(
  folder: Folder,
  programs: Paths<(typeof API)[number]> & Partial<Paths<'controllers' | 'kubeControllerManager'>>,
  options: ControlPlaneOptions,
): Promise<ControlPlane> {
  const { signal, progress = () => undefined } = options;
  const pki = await openPki(folder.pki, { addresses: options.addresses ?? [] });
  const ports = await choosePorts(await folder.readPorts());
  await folder.writePorts(ports);

  const url = `https://127.0.0.1:${ports.apiserver}`;
  const ca = pki.cluster.cert;
  const client = new Client(url, { ca, pair: await readPair(pki.files.admin) });
  const kubeconfigOf = async (path: string, user: string, files: PairFiles): Promise<string> =>
    writeKubeconfig(path, { cluster: CLUSTER, url, ca, user, pair: await readPair(files) });

  const { promise: failure, resolve: failed } = Promise.withResolvers<DaemonError>();
  const daemons: Daemon[] = [];
  const launch = async <D extends Daemon>(
    name: string,
    make: (place: ProgramFiles, failed: (error: DaemonError) => void) => D,
  ): Promise<D> => {
    progress(`control plane: starting ${name}`);
    const daemon = make(folder.place(name), failed);
    daemons.push(daemon);
    await daemon.start(signal);
    return daemon;
  };
  const stopDaemons = async (): Promise<void> => {
    client.close();
    for (const daemon of daemons.toReversed()) {
      // State that is deleted needs no graceful stop, which takes kube-apiserver a second or two.
      await (options.keep === true ? daemon.stop() : daemon.kill());
    }
  };

  try {
    const store = {
      binary: programs.etcd,
      dataDir: folder.etcd,
      ports: { client: ports.etcd, peer: ports.etcdPeer },
      files: pki.files,
      trust: { ca: await readFile(pki.files.etcdCa, 'utf8'), pair: await readPair(pki.files.etcdClient) },
    };
    const etcd = await launch('etcd', (place, failed) => new Etcd({ ...store, place, failed }));

    const server = { binary: programs.kubeApiserver, port: ports.apiserver, files: pki.files, etcd, client };
    const extraFlags = options.extraApiserverFlags ?? [];
    const apiserver = await launch(
      'kube-apiserver',
      (place, failed) => new Apiserver({ ...server, extraFlags, place, failed }),
    );

    let controllerManager: ControllerManager | undefined;
    const manager = programs.kubeControllerManager;
    const binary = manager ?? programs.controllers;
    if (binary !== undefined) {
      const path = folder.kubeconfig('controller-manager');
      const controllers = {
        binary,
        completeAt: manager === undefined ? undefined : ports.controllerManager,
        files: pki.files,
        kubeconfig: await kubeconfigOf(path, 'system:kube-controller-manager', pki.files.controllerManager),
        client,
      };
      controllerManager = await launch(
        'controllers',
        (place, failed) => new ControllerManager({ ...controllers, place, failed }),
      );
    }
    const kubeconfig = await kubeconfigOf(folder.kubeconfig('admin'), 'kubernetes-admin', pki.files.admin);
    progress(`control plane: ready at ${url}`);

    return {
      dir: folder.dir,
      folder,
      url,
      ca,
      kubeconfig,
      kubectl: programs.kubectl,
      pki,
      ports,
      client,
      etcd,
      apiserver,
      controllerManager,
      failure,
      kubeconfigFor: async ({ name, groups = [] }) => {
        const pair = await pki.issueClient({ cn: name, o: groups });
        return writeKubeconfig(folder.userKubeconfig(name), { cluster: CLUSTER, url, ca, user: name, pair });
      },
      launch: async (name, make) => {
        await launch(name, make);
      },
      stop: stopOnce(signal, async () => {
        await stopDaemons();
        await folder.release();
        if (options.keep !== true) await folder.remove();
      }),
    };
  } catch (error) {
    await stopDaemons();
    throw error;
  }
}

/** Runs `stop` once, at the first call or when the signal aborts; all callers wait for that run. */
function stopOnce(signal: AbortSignal, stop: () => Promise<void>): () => Promise<void> {
  let stopping: Promise<void> | undefined;
  const onAbort = (): void => {
    // stop() reports the error.
    once().catch(() => undefined);
  };
  const once = (): Promise<void> => {
    signal.removeEventListener('abort', onAbort);
    stopping ??= stop();
    return stopping;
  };
  signal.addEventListener('abort', onAbort, { once: true });
  return once;
}
