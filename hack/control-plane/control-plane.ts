// A Kubernetes control plane of its own for development, tests and benchmarks:
// etcd, kube-apiserver and the controllers that count, on loopback ports, with
// real certificates, in one folder. It decides the order of starting and
// stopping; each program's flags are in its own file. Nodes and pods are the
// business of kwok.ts, or of realistic-node.ts for benchmarks.
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Daemon, DaemonError } from '../system/daemon.ts';
import { racingForPorts } from '../system/port-race.ts';
import { choosePorts, type Ports } from '../system/ports.ts';
import type { Progress } from '../terminal/progress.ts';
import { Apiserver } from './apiserver.ts';
import { type Binaries, findBinaries } from './binaries.ts';
import { Client } from './client.ts';
import { ControllerManager } from './controller-manager.ts';
import { Etcd } from './etcd.ts';
import { type Folder, openFolder, type ProgramFiles } from './folder.ts';
import { writeKubeconfig } from './kubeconfig.ts';
import { openPki, type PairFiles, type Pki, readPair } from './pki.ts';

export interface ControlPlaneOptions {
  /** Where everything is kept; made when missing. One control plane at a time uses it. */
  readonly dir: string;
  /** Ends the start, or later the whole control plane; stop() tells when it has ended. */
  readonly signal: AbortSignal;
  /** Leaves the folder for the next start; otherwise stop() removes what is in it. False unless told otherwise. */
  readonly keep?: boolean;
  /** Whether kube-controller-manager runs. True unless told otherwise. */
  readonly controllers?: boolean;
  readonly extraApiserverFlags?: readonly string[];
  readonly progress?: Progress;
}

export interface ControlPlane {
  readonly dir: string;
  readonly folder: Folder;
  /** `https://127.0.0.1:PORT` of kube-apiserver. */
  readonly url: string;
  /** PEM of the authority behind it. */
  readonly ca: string;
  /** Path of the administrator's kubeconfig. */
  readonly kubeconfig: string;
  /** Path of a kubectl that fits. */
  readonly kubectl: string;
  readonly binaries: Binaries;
  readonly pki: Pki;
  readonly ports: Ports;
  /** A client of the administrator. */
  readonly client: Client;
  readonly etcd: Etcd;
  readonly apiserver: Apiserver;
  readonly controllerManager: ControllerManager | undefined;
  /** Resolves with the reason when a program ends that nobody asked to; never when all goes well. */
  readonly failure: Promise<DaemonError>;
  /** Writes a kubeconfig with a client certificate for the user, and returns its path. */
  kubeconfigFor(user: { name: string; groups?: readonly string[] }): Promise<string>;
  /** Starts a further program, such as KWOK; it is stopped before the ones it needs. */
  launch(
    name: string,
    make: (place: ProgramFiles, failed: (error: DaemonError) => void) => Daemon,
  ): Promise<void>;
  /** Ends every process; the same promise for every caller. */
  stop(): Promise<void>;
}

const CLUSTER = 'ks-apiserver-dev';

/** Starts everything and waits until it can be used. When that fails, nothing is left running; the logs stay. */
export async function startControlPlane(options: ControlPlaneOptions): Promise<ControlPlane> {
  const folder = await openFolder(resolve(options.dir));
  try {
    const binaries = await findBinaries(options);
    return await racingForPorts(() => startIn(folder, binaries, options));
  } catch (error) {
    await folder.release();
    throw error;
  }
}

async function startIn(
  folder: Folder,
  binaries: Binaries,
  options: ControlPlaneOptions,
): Promise<ControlPlane> {
  const { signal, progress = () => undefined } = options;
  const pki = await openPki(folder.pki);
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
      // What is thrown away needs no orderly end, which takes kube-apiserver a second or two.
      await (options.keep === true ? daemon.stop() : daemon.kill());
    }
  };

  try {
    const store = {
      binary: binaries.etcd,
      dataDir: folder.etcd,
      ports: { client: ports.etcd, peer: ports.etcdPeer },
      files: pki.files,
      trust: { ca: await readFile(pki.files.etcdCa, 'utf8'), pair: await readPair(pki.files.etcdClient) },
    };
    const etcd = await launch('etcd', (place, failed) => new Etcd({ ...store, place, failed }));

    const server = { binary: binaries.kubeApiserver, port: ports.apiserver, files: pki.files, etcd, client };
    const extraFlags = options.extraApiserverFlags ?? [];
    const apiserver = await launch(
      'kube-apiserver',
      (place, failed) => new Apiserver({ ...server, extraFlags, place, failed }),
    );

    let controllerManager: ControllerManager | undefined;
    if (options.controllers !== false) {
      const path = folder.kubeconfig('controller-manager');
      const controllers = {
        binary: binaries.kubeControllerManager,
        port: ports.controllerManager,
        files: pki.files,
        kubeconfig: await kubeconfigOf(path, 'system:kube-controller-manager', pki.files.controllerManager),
        client,
      };
      controllerManager = await launch(
        'kube-controller-manager',
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
      kubectl: binaries.kubectl,
      binaries,
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

/** Runs `stop` at the first call or when the signal aborts, whichever is earlier; all callers wait for that one run. */
function stopOnce(signal: AbortSignal, stop: () => Promise<void>): () => Promise<void> {
  let stopping: Promise<void> | undefined;
  const onAbort = (): void => {
    // The error, if any, is for whoever calls stop().
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
