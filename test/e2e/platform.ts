// Starts a control plane with a registered ks-apiserver, for end-to-end tests.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { hash } from '@node-rs/argon2';
import { record, recordIn, text } from '../../apis/reading/unknown-value.ts';
import { Client, type ClientRequest } from '../../hack/control-plane/client.ts';
import { type ControlPlane, startControlPlane } from '../../hack/control-plane/control-plane.ts';
import { available, grant, register, SERVICE_ACCOUNT } from '../../hack/extension/registration.ts';
import { ServerProcess, type ServerProcessOptions } from '../../hack/extension/server-process.ts';
import { createNodes } from '../../hack/simulation/realistic-node.ts';
import { prepareTokenTrust } from '../../hack/start/token-trust.ts';
import { freePort } from '../../hack/system/ports.ts';
import { noteOnFailure, removeNote } from '../support/failure-notes.ts';
import { until } from '../support/until.ts';

export const RESOURCE = 'nodes.resources.platform.io';
const RBAC = 'rbac.authorization.k8s.io';
/** Number of nodes for tests of nodes. */
export const NODES = 23;

/** Password of users in tests. */
export const PASSWORD = 'correct horse battery staple';
/** Credentials of the default client. */
export const PLATFORM_CLIENT = { client_id: 'platform', client_secret: 'platform' };

export interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface Output {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Returns sections of the server's configuration; `dir`: a folder for the files that they reference. */
type Configure = (place: {
  readonly port: number;
  readonly dir: string;
  readonly controlPlane: ControlPlane;
}) => Promise<Readonly<Record<string, unknown>>>;

export interface PlatformOptions {
  readonly configure?: Configure;
  /** Modules that the server preloads. */
  readonly imports?: readonly string[];
  /** Clients whose ID tokens kube-apiserver accepts. */
  readonly idTokensOf?: readonly string[];
  /** Returns further flags of kube-apiserver, whose files are in the folder `dir`. */
  readonly flagsIn?: (dir: string) => Promise<readonly string[]>;
  /** Whether kube-apiserver trusts the issuer from the start. */
  readonly isTrusted?: boolean;
}

export class Platform {
  readonly controlPlane: ControlPlane;
  readonly #dir: string;
  readonly #serverOptions: ServerProcessOptions;
  readonly #ended: AbortController;
  readonly #replicas: ServerProcess[] = [];
  /** Makes kube-apiserver trust the issuer of the server. */
  readonly trust: () => Promise<void>;
  server: ServerProcess;
  /** Client of the server, without credentials. */
  client: Client;

  private constructor(
    controlPlane: ControlPlane,
    dir: string,
    serverOptions: ServerProcessOptions,
    ended: AbortController,
    server: ServerProcess,
    trust: () => Promise<void>,
  ) {
    this.controlPlane = controlPlane;
    this.#dir = dir;
    this.#serverOptions = serverOptions;
    this.#ended = ended;
    this.server = server;
    this.trust = trust;
    this.client = new Client(server.url, { ca: controlPlane.ca });
  }

  /** Resolves when the APIServices are Available. */
  static async start(
    nodes: number,
    { configure, imports = [], idTokensOf = [], flagsIn, isTrusted = true }: PlatformOptions = {},
  ): Promise<Platform> {
    const dir = await mkdtemp(join(tmpdir(), 'ks-apiserver-e2e-'));
    const ended = new AbortController();
    const { signal } = ended;
    try {
      const trust = await prepareTokenTrust(join(dir, 'authentication-configuration.yaml'));
      const controlPlane = await startControlPlane({
        dir: join(dir, 'control-plane'),
        extraApiserverFlags: [trust.flag, ...((await flagsIn?.(dir)) ?? [])],
        signal,
      });
      try {
        await createNodes(controlPlane, nodes, { signal });
        const port = await freePort();
        await grant(controlPlane, port, signal);
        const options = {
          dir: join(dir, 'server'),
          kubeconfig: await controlPlane.kubeconfigFor(SERVICE_ACCOUNT),
          port,
          certificate: await servingCertificate(controlPlane, dir),
          imports,
          ...(configure ? { configuration: await configure({ port, dir, controlPlane }) } : {}),
          signal,
        };
        const server = await ServerProcess.start(options);
        const trusted = {
          issuer: `${server.url}/oauth`,
          caFile: options.certificate.ca,
          audience: 'platform',
          idTokensOf,
        };
        const platform = new Platform(controlPlane, dir, options, ended, server, () =>
          trust.establish(trusted),
        );
        noteOnFailure(platform, "the server's log", () => readFile(platform.server.logFile, 'utf8'));
        const { logFile } = controlPlane.folder.place('kube-apiserver');
        noteOnFailure(controlPlane, "kube-apiserver's log", () => readFile(logFile, 'utf8'));
        await register(controlPlane, port, signal);
        await available(controlPlane, signal);
        if (isTrusted) await platform.trust();
        return platform;
      } catch (error) {
        await controlPlane.stop();
        throw error;
      }
    } catch (error) {
      ended.abort();
      await rm(dir, { recursive: true, force: true });
      throw error;
    }
  }

  /** Aborted when the platform stops. */
  get signal(): AbortSignal {
    return this.#ended.signal;
  }

  /** Restarts the server with the same port and certificate. Resolves when kube-apiserver forwards requests to it again. */
  async restartServer(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    this.client.close();
    await (signal === 'SIGKILL' ? this.server.kill() : this.server.stop());
    this.server = await ServerProcess.start(this.#serverOptions);
    this.client = new Client(this.server.url, { ca: this.controlPlane.ca });
    await available(this.controlPlane, this.signal);
  }

  /**
   * Starts another server with the issuer of the first one. It stops with the platform. `imports`: modules to preload.
   */
  async startReplica(
    name: string,
    configuration: ServerProcessOptions['configuration'],
    imports: readonly string[] = [],
  ): Promise<ServerProcess> {
    const replica = await ServerProcess.start({
      ...this.#serverOptions,
      imports,
      dir: join(this.#dir, name),
      port: await freePort(),
      configuration: { oauth: { issuer: `${this.server.url}/oauth` }, ...configuration },
    });
    this.#replicas.push(replica);
    noteOnFailure(replica, `the log of ${name}`, () => readFile(replica.logFile, 'utf8'));
    return replica;
  }

  /** Replaces the serving certificate of all servers by another one of the same CA. */
  async rotateServingCertificate(): Promise<void> {
    await servingCertificate(this.controlPlane, this.#dir);
  }

  /** Runs kubectl, by default as the administrator. The first argument can be several words. */
  kubectl(...args: string[]): Promise<Output> {
    return new Promise((resolve) => {
      execFile(
        this.controlPlane.kubectl,
        wordsOf(args),
        { env: this.environment(), maxBuffer: 64 << 20, timeout: 150_000 },
        (error, stdout, stderr) => {
          resolve({ code: error === null ? 0 : Number(error.code ?? -1), stdout, stderr });
        },
      );
    });
  }

  /** Standard output of a kubectl that must exit with 0. */
  async succeeding(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await this.kubectl(...args);
    if (code !== 0) throw new Error(`kubectl ${args.join(' ')} ended with ${code}: ${stderr}`);
    return stdout;
  }

  /** Binds a ClusterRole. `subject`: a flag of kubectl, as `--user=ada`. `namespace`: all by default. */
  async bind(role: string, subject: string, namespace = ''): Promise<void> {
    const [, type = '', id = ''] = /^--(user|group|serviceaccount)=(.+)$/.exec(subject) ?? [];
    const [of = '', account = ''] = id.split(':');
    const [scope, kind] =
      namespace === '' ? ['', 'ClusterRoleBinding'] : [`/namespaces/${namespace}`, 'RoleBinding'];
    const binding = {
      apiVersion: `${RBAC}/v1`,
      kind,
      metadata: { name: `${role}${subject.replaceAll(/\W+/g, '-')}` },
      roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: role },
      subjects: [
        type === 'serviceaccount'
          ? { kind: 'ServiceAccount', namespace: of, name: account }
          : { apiGroup: RBAC, kind: type === 'user' ? 'User' : 'Group', name: id },
      ],
    };
    const path = `/apis/${RBAC}/v1${scope}/${kind.toLowerCase()}s`;
    await this.controlPlane.client.expect(path, { method: 'POST', body: binding }, [201]);
  }

  /**
   * Resolves when kube-apiserver serves the OpenAPI of this group and version, for `kubectl explain`: about a second after
   * the registration, or a minute if the first fetch failed.
   */
  async described(groupVersion: string): Promise<void> {
    const path = `"apis/${groupVersion}"`;
    await until(async () => (await this.succeeding('get --raw /openapi/v3')).includes(path));
  }

  /** Resolves when `kubectl auth can-i` returns yes. */
  async permitted(...question: string[]): Promise<void> {
    await until(async () => (await this.kubectl(`auth can-i ${question.join(' ')}`)).code === 0);
  }

  /** Creates a user with a password, or sets them again. */
  async addUser(name: string, password = PASSWORD, spec: object = {}): Promise<void> {
    // kubectl would first load the OpenAPI documents of all groups.
    const apply = async (kind: string, of: object): Promise<string> => {
      const body = { apiVersion: 'iam.platform.io/v1beta1', kind, metadata: { name }, spec: of };
      const path = `/apis/${body.apiVersion}/${kind.toLowerCase()}s/${name}?fieldManager=test&force=true`;
      const request = { method: 'PATCH', contentType: 'application/apply-patch+yaml', body } as const;
      const applied = await this.controlPlane.client.expect(path, request, [200, 201]);
      return text(recordIn(record(JSON.parse(applied.body)), 'metadata')['uid']);
    };
    const userUID = await apply('User', spec);
    const changedTime = new Date().toISOString();
    await apply('Credential', { userUID, passwordHash: await hash(password), changedTime });
  }

  /** Sends a request to the server; the response is JSON. */
  async ask(path: string, request: ClientRequest = {}): Promise<Answer> {
    const { status, body } = await this.client.send(path, request);
    return { status, body: record(JSON.parse(body)) };
  }

  /** Requests tokens for a user and a password. */
  grant(username: string, password = PASSWORD): Promise<Answer> {
    const form = { grant_type: 'password', username, password, ...PLATFORM_CLIENT };
    return this.ask('/oauth/token', { method: 'POST', body: new URLSearchParams(form) });
  }

  /** Signs in, and retries until the server has synced the user. Resolves with the access token. */
  async signIn(username: string, password = PASSWORD): Promise<string> {
    let token = '';
    await until(async () => {
      this.signal.throwIfAborted();
      const { status, body } = await this.grant(username, password);
      if (status === 200) token = text(body['access_token']);
      return status === 200;
    });
    return token;
  }

  /**
   * Resolves when kube-apiserver accepts an access token: it fetches new keys of the issuer within ten seconds. Programs that
   * wait for that would need a core.
   */
  async accepted(token: string): Promise<void> {
    const { url, ca } = this.controlPlane;
    using client = new Client(url, { ca });
    await until(async () => {
      this.signal.throwIfAborted();
      return (await client.send('/api', { token })).status === 200;
    });
  }

  /** Sends a request with curl. `path`: at the server by default. */
  async curl(
    token: string | undefined,
    path: string,
    ...args: readonly string[]
  ): Promise<{ status: number; body: string }> {
    const ca = await this.write('curl-ca.crt', this.controlPlane.ca);
    const running = promisify(execFile)('curl', [
      ...['--silent', '--show-error', '--cacert', ca, '--config', '-', '--write-out', '\n%{http_code}'],
      ...[...args, new URL(path, this.server.url).href],
    ]);
    // The token comes from standard input, so that it is not in the process list.
    running.child.stdin?.end(token === undefined ? '' : `header = "Authorization: Bearer ${token}"\n`);
    const { stdout } = await running;
    const end = stdout.lastIndexOf('\n');
    return { status: Number(stdout.slice(end + 1)), body: stdout.slice(0, end) };
  }

  /** Arguments of kubectl with a token, without the credentials of the administrator. `url`: kube-apiserver by default. */
  flags(token: string, url = this.controlPlane.url): string[] {
    return [
      '--kubeconfig=/dev/null',
      `--server=${url}`,
      `--certificate-authority=${this.controlPlane.pki.files.clusterCa}`,
      `--token=${token}`,
    ];
  }

  /** Starts a long-running kubectl. */
  spawnKubectl(...args: string[]): ChildProcess {
    return spawn(this.controlPlane.kubectl, wordsOf(args), {
      env: this.environment(),
      stdio: ['ignore', 'pipe', 'inherit'],
      signal: this.#ended.signal,
    }).on('error', () => undefined);
  }

  /** Writes a file in the folder of this platform; returns its path. */
  async write(name: string, text: string): Promise<string> {
    const path = join(this.#dir, name);
    await writeFile(path, text);
    return path;
  }

  /** Writes a kubeconfig, in JSON; returns its path. `url`: of kube-apiserver by default. */
  writeKubeconfig(name: string, user: object, server = this.controlPlane.url): Promise<string> {
    const cluster = { server, 'certificate-authority': this.controlPlane.pki.files.clusterCa };
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'context',
      clusters: [{ name: 'cluster', cluster }],
      users: [{ name: 'user', user }],
      contexts: [{ name: 'context', context: { cluster: 'cluster', user: 'user' } }],
    };
    return this.write(name, JSON.stringify(config));
  }

  environment(): NodeJS.ProcessEnv {
    return {
      PATH: process.env['PATH'],
      // kubectl caches discovery under HOME: each platform starts with an empty cache.
      HOME: this.#dir,
      KUBECONFIG: this.controlPlane.kubeconfig,
      // Garbage collections take a fifth of the CPU time of a short command.
      GOGC: '1000',
      // For the commands of ks-apiserver.
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
    };
  }

  async stop(): Promise<void> {
    removeNote(this);
    removeNote(this.controlPlane);
    this.#ended.abort();
    this.client.close();
    for (const replica of this.#replicas) removeNote(replica);
    await Promise.all([this.server, ...this.#replicas].map((server) => server.stop()));
    await this.controlPlane.stop();
    await rm(this.#dir, { recursive: true, force: true });
  }
}

function wordsOf([first = '', ...others]: readonly string[]): string[] {
  return [...first.split(' '), ...others];
}

/** Issues the certificate of a server on a loopback port, and writes it to `dir`. */
async function servingCertificate(
  { pki, ca }: ControlPlane,
  dir: string,
): Promise<ServerProcessOptions['certificate']> {
  const names = { dns: ['localhost', 'ks-apiserver.platform-system.svc'], ip: ['127.0.0.1'] };
  const issued = await pki.cluster.issueServer({ cn: 'ks-apiserver' }, names);
  const files = { cert: join(dir, 'serving.crt'), key: join(dir, 'serving.key'), ca: join(dir, 'ca.crt') };
  await writeFile(files.cert, issued.cert);
  await writeFile(files.key, issued.key, { mode: 0o600 });
  await writeFile(files.ca, ca);
  return files;
}
