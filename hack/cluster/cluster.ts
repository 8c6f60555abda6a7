// A real single-node Kubernetes cluster in namespaces of its own: kubelet, containerd and kube-proxy run the image of the
// server in pods. It exists as long as the process that started it.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import type { BuildOptions } from '../artifacts/artifact.ts';
import { CLUSTER, findPrograms } from '../control-plane/programs.ts';
import { prepareTokenTrust } from '../start/token-trust.ts';
import {
  type Addresses,
  addressesOf,
  containerdCommand,
  enterCommand,
  importCommand,
  STATE,
} from './configuration.ts';
import { type Images, provideImages } from './images.ts';
import { type NodeFacts, parseMessage } from './message.ts';
import { environmentOf } from './packages.ts';
import { missingForCluster } from './prerequisites.ts';

/** Characters of the last error output in a message. */
const LAST_CHARACTERS = 2_000;
/** Bytes of output of one command. */
const MAX_OUTPUT = 256 << 20;
/** An installation is available within a minute. */
const AVAILABLE_TIMEOUT = '60s';
const NAMESPACE = 'platform-system';
const API_SERVICES = ['v1alpha3.resources.platform.io', 'v1alpha2.logging.platform.io'] as const;
/** DNS name of the server in its certificates, and in `oauth.issuer` of the manifests. */
export const SERVER_NAME = `ks-apiserver.${NAMESPACE}.svc`;

interface ClusterOptions extends BuildOptions {
  /** The clone. */
  readonly root: string;
}

export class Cluster implements AsyncDisposable {
  readonly addresses: Addresses;
  readonly images: Images;
  /** PID of the first process in the namespaces. */
  readonly pid: number;
  readonly kubectlProgram: string;
  /** Administrator's kubeconfig; its server is the address of the node. */
  readonly kubeconfig: string;
  /** Resolves with the reason when the cluster ends before `stop`. */
  readonly failure: Promise<Error>;
  readonly stop: () => Promise<void>;
  readonly #env: NodeJS.ProcessEnv;

  private constructor(facts: NodeFacts, images: Images, supervisor: Supervisor, env: NodeJS.ProcessEnv) {
    this.addresses = addressesOf(facts.cluster);
    this.images = images;
    this.pid = facts.pid;
    this.kubectlProgram = facts.kubectl;
    this.kubeconfig = this.file('admin.kubeconfig');
    this.failure = supervisor.failure;
    this.stop = supervisor.stop;
    const { HTTP_PROXY: _http, HTTPS_PROXY: _https, http_proxy: _lower, https_proxy: _lowers, ...rest } = env;
    const path = `${dirname(this.kubectlProgram)}:${rest['PATH'] ?? ''}`;
    this.#env = { ...rest, KUBECONFIG: this.kubeconfig, PATH: path };
  }

  /** Starts a cluster whose node is Ready and has the images. Throws one line if something is missing. */
  static async start(options: ClusterOptions): Promise<Cluster> {
    const missing = await missingForCluster(options.env);
    if (missing !== undefined) throw new Error(missing);
    await findPrograms(CLUSTER, options);
    const images = await provideImages(options.root, options);
    const supervisor = new Supervisor(options, images);
    try {
      const facts = await supervisor.ready(options);
      return new Cluster(facts, images, supervisor, options.env);
    } catch (error) {
      await supervisor.stop();
      throw error;
    }
  }

  /** Path on the host of a file in the node's state folder. */
  file(name: string): string {
    return join('/proc', String(this.pid), 'root', STATE, name);
  }

  /** Command line that runs a program in the namespaces of the node. */
  enter(...command: string[]): [string, ...string[]] {
    return enterCommand(this.pid, command);
  }

  /** Environment of programs on the host that use the cluster: KUBECONFIG, PATH with kubectl, no proxy. */
  get env(): NodeJS.ProcessEnv {
    return this.#env;
  }

  /** Resolves with stdout; rejects with stderr. */
  kubectl(...args: string[]): Promise<string> {
    return this.run([this.kubectlProgram, ...args]);
  }

  /** Runs a program on the host. Resolves with stdout; rejects with stderr. */
  async run(
    [command = '', ...args]: readonly string[],
    options: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv; readonly signal?: AbortSignal } = {},
  ): Promise<string> {
    const { stdout } = await promisify(execFile)(command, args, {
      cwd: tmpdir(),
      maxBuffer: MAX_OUTPUT,
      ...options,
      env: { ...this.#env, ...options.env },
    });
    return stdout;
  }

  /** Imports an archive of images into containerd. */
  async load(archive: string): Promise<void> {
    await this.run(this.enter(...importCommand(archive)), {
      env: environmentOf(this.images.packages, this.#env),
    });
  }

  /** `kubectl apply -k`, and waits until the pods are available and kube-apiserver reaches them. */
  async applyOverlay(folder: string): Promise<void> {
    await this.kubectl('apply', '-k', folder);
    await this.available();
  }

  async available(): Promise<void> {
    const timeout = `--timeout=${AVAILABLE_TIMEOUT}`;
    const services = API_SERVICES.map((name) => `apiservice/${name}`);
    try {
      await this.kubectl('-n', NAMESPACE, 'rollout', 'status', 'deployment/ks-apiserver', timeout);
      await this.kubectl('wait', timeout, '--for=condition=Available', ...services);
    } catch (cause) {
      const state = await this.kubectl('get', 'pods,events', '-n', NAMESPACE);
      throw new Error(`the server is not available after ${AVAILABLE_TIMEOUT}:\n${state}`, { cause });
    }
  }

  /** PID, in the namespaces of the node, of the first container of a pod. */
  async processOf(namespace: string, pod: string): Promise<number> {
    const field = '-o=jsonpath={.status.containerStatuses[0].containerID}';
    const container = (await this.kubectl('get', 'pod', pod, `--namespace=${namespace}`, field)).split(
      '//',
    )[1];
    const env = environmentOf(this.images.packages, this.#env);
    const tasks = await this.run(this.enter(...containerdCommand('tasks', 'list')), { env });
    const line = tasks.split('\n').find((each) => container !== undefined && each.startsWith(container));
    const pid = Number(line?.split(/\s+/)[1]);
    if (!(pid > 0)) throw new Error(`pod ${namespace}/${pod} has no running container: ${tasks}`);
    return pid;
  }

  /** Makes kube-apiserver accept the tokens of the server. */
  async trustServer(): Promise<void> {
    const { clusterIP, ca } = await this.service();
    await writeFile(this.file('hosts'), `127.0.0.1 localhost\n${clusterIP} ${SERVER_NAME}\n`);
    const caFile = this.file('server-ca.crt');
    await writeFile(caFile, ca);
    const trust = await prepareTokenTrust(this.file('authentication-configuration.yaml'));
    await trust.establish({ issuer: `https://${SERVER_NAME}/oauth`, caFile, audience: 'platform' });
  }

  /** Address of the Service, and its CA bundle. The certificates are valid for SERVER_NAME. */
  async service(): Promise<{ clusterIP: string; ca: string }> {
    const field = (...args: string[]): Promise<string> => this.kubectl('get', ...args);
    const [clusterIP, bundle] = await Promise.all([
      field('service', 'ks-apiserver', `--namespace=${NAMESPACE}`, '-o', 'jsonpath={.spec.clusterIP}'),
      field('apiservice', API_SERVICES[0], '-o', 'jsonpath={.spec.caBundle}'),
    ]);
    return { clusterIP, ca: Buffer.from(bundle, 'base64').toString() };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}

/** The process outside the namespaces: supervisor.sh. */
class Supervisor {
  readonly failure: Promise<Error>;
  readonly stop: () => Promise<void>;
  readonly #output: Readable | null;
  #failed: string | undefined;

  constructor({ root, env }: ClusterOptions, { packages, busybox, server }: Images) {
    const node = [
      packages.node,
      process.execPath,
      '--import',
      join(root, 'hack/prepared.mjs'),
      join(import.meta.dirname, 'node.ts'),
      packages.node,
      busybox,
      server,
    ];
    // A process group of its own, so that Ctrl-C reaches it only through this process.
    const child = spawn('/bin/sh', [join(import.meta.dirname, 'supervisor.sh'), ...node], {
      cwd: root,
      env: { ...environmentOf(packages, env), KUBECONFIG: '/dev/null' },
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    });
    let errors = '';
    child.stderr?.on('data', (chunk: Buffer) => {
      errors = `${errors}${chunk.toString('utf8')}`.slice(-LAST_CHARACTERS);
    });
    this.#output = child.stdout;
    const ended = once(child, 'close');
    this.failure = ended.then(
      ([code]) => new Error(this.#failed ?? `the cluster ended with code ${String(code)}: ${errors.trim()}`),
      (error: unknown) => new Error('the cluster could not be started', { cause: error }),
    );
    this.stop = async () => {
      child.stdio[3]?.destroy();
      await this.failure;
    };
  }

  /** Resolves when the node is Ready; rejects if the cluster ends before. */
  async ready({ progress, signal }: ClusterOptions): Promise<NodeFacts> {
    const { promise, resolve, reject } = Promise.withResolvers<NodeFacts>();
    if (this.#output === null) throw new Error('the supervisor has no output');
    createInterface({ input: this.#output }).on('line', (line) => {
      const message = parseMessage(line);
      if ('ready' in message) resolve(message.ready);
      else if ('failed' in message) this.#failed = message.failed;
      else progress(message.progress);
    });
    void this.failure.then(reject);
    const abort = (): void => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    try {
      return await promise;
    } finally {
      signal.removeEventListener('abort', abort);
    }
  }
}
