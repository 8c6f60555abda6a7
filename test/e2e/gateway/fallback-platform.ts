// Platform for tests of impersonation and of an untrusted issuer: a kube-apiserver with an audit log that trusts no
// issuer at first, interactive pods, and two servers. `passthrough` is registered and has the default configuration; its connections to
// kube-apiserver pass a proxy that can freeze them. `impersonating` impersonates all callers.
import { type ChildProcessWithoutNullStreams, execFile, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { hash } from '@node-rs/argon2';
import { record, text } from '../../../apis/reading/unknown-value.ts';
import type { KeyPair } from '../../../hack/control-plane/certificate-authority.ts';
import { Client } from '../../../hack/control-plane/client.ts';
import { type ControlPlane, startControlPlane } from '../../../hack/control-plane/control-plane.ts';
import { apply, available, grant, register, SERVICE_ACCOUNT } from '../../../hack/extension/registration.ts';
import { ServerProcess } from '../../../hack/extension/server-process.ts';
import { prepareTokenTrust } from '../../../hack/start/token-trust.ts';
import { freePort } from '../../../hack/system/ports.ts';
import { FreezingProxy } from '../../support/cluster/freezing-proxy.ts';
import { noteOnFailure, removeNote } from '../../support/failure-notes.ts';
import { type Output, PASSWORD, PLATFORM_CLIENT, servingCertificate } from '../platform.ts';
import { AuditLog } from './audit-log.ts';
import { InteractivePods, type Pod } from './interactive-pods.ts';
import { type RawResponse, rawRequest } from './raw-request.ts';

const ROOT = join(import.meta.dirname, '../../..');
const POLL_MS = 50;
/** Origin of pages that may use client certificates at `impersonating`. */
export const ALLOWED_ORIGIN = 'https://console.example.com';

export type Component = 'gateway-impersonation' | 'gateway-constrained-impersonation';

export interface Reply extends RawResponse {
  /** The value of a header; undefined if it is absent. */
  header(name: string): string | undefined;
}

export interface Request {
  readonly pair?: KeyPair;
  readonly token?: string;
  readonly headers?: readonly string[];
  /** Sent as JSON. */
  readonly body?: object;
}

interface Parts {
  readonly dir: string;
  readonly controlPlane: ControlPlane;
  readonly auditLog: AuditLog;
  readonly proxy: FreezingProxy;
  readonly passthrough: ServerProcess;
  readonly impersonating: ServerProcess;
  readonly pods: InteractivePods;
  readonly ended: AbortController;
  readonly trust: () => Promise<void>;
}

export class FallbackPlatform {
  readonly #parts: Parts;

  private constructor(parts: Parts) {
    this.#parts = parts;
  }

  static async start(): Promise<FallbackPlatform> {
    const dir = await mkdtemp(join(tmpdir(), 'ks-apiserver-fallback-'));
    const ended = new AbortController();
    const { signal } = ended;
    const trust = await prepareTokenTrust(join(dir, 'authentication-configuration.yaml'));
    const auditLog = await AuditLog.prepare(dir);
    const controlPlane = await startControlPlane({
      dir: join(dir, 'control-plane'),
      extraApiserverFlags: [trust.flag, ...auditLog.flags],
      signal,
    });
    const proxy = await FreezingProxy.start(controlPlane.ports.apiserver);
    const [port, otherPort] = [await freePort(), await freePort()];
    await grant(controlPlane, port, signal);
    const certificate = await servingCertificate(controlPlane, dir);
    const kubeconfig = await controlPlane.kubeconfigFor(SERVICE_ACCOUNT);
    const proxied = join(dir, 'proxied.kubeconfig');
    const direct = await readFile(kubeconfig, 'utf8');
    await writeFile(proxied, direct.replace(controlPlane.url, `https://127.0.0.1:${proxy.port}`));
    const [pods, passthrough, impersonating] = await Promise.all([
      InteractivePods.start(controlPlane, { attached: join(dir, 'attached.log'), signal }),
      ServerProcess.start({
        dir: join(dir, 'passthrough'),
        kubeconfig: proxied,
        port,
        certificate,
        configuration: { requests: { timeout: '2s' } },
        signal,
      }),
      ServerProcess.start({
        dir: join(dir, 'impersonating'),
        kubeconfig,
        port: otherPort,
        certificate,
        configuration: {
          gateway: { impersonation: 'all' },
          cors: { allowedOrigins: [ALLOWED_ORIGIN] },
        },
        signal,
      }),
    ]);
    await register(controlPlane, port, signal);
    await available(controlPlane, signal);
    const platform = new FallbackPlatform({
      dir,
      controlPlane,
      auditLog,
      proxy,
      passthrough,
      impersonating,
      pods,
      ended,
      trust: () =>
        trust.establish({
          issuer: `${passthrough.url}/oauth`,
          caFile: certificate.ca,
          audience: 'platform',
        }),
    });
    for (const server of [passthrough, impersonating]) {
      noteOnFailure(server, "the server's log", () => readFile(server.logFile, 'utf8'));
    }
    return platform;
  }

  get controlPlane(): ControlPlane {
    return this.#parts.controlPlane;
  }

  get proxy(): FreezingProxy {
    return this.#parts.proxy;
  }

  get passthrough(): ServerProcess {
    return this.#parts.passthrough;
  }

  get impersonating(): ServerProcess {
    return this.#parts.impersonating;
  }

  /** A running pod. */
  get pod(): Pod {
    return this.#parts.pods.pod;
  }

  /** `target`: a server, or kube-apiserver. `line`: method and path. */
  async send(
    target: { readonly url: string },
    line: string,
    { pair, token, headers = [], body }: Request = {},
  ): Promise<Reply> {
    const content = body === undefined ? '' : JSON.stringify(body);
    const response = await rawRequest(
      { port: Number(new URL(target.url).port), ca: this.controlPlane.ca, ...pair },
      [
        `${line} HTTP/1.1`,
        'Accept: application/json',
        ...(token === undefined ? [] : [`Authorization: Bearer ${token}`]),
        ...(body === undefined
          ? []
          : ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(content)}`]),
        ...headers,
      ],
      content,
    );
    return {
      ...response,
      header: (name) => response.headers.find(([own]) => own === name)?.[1],
    };
  }

  /** Sends a SelfSubjectReview. Resolves with the status code, and the user of the request or the error message. */
  async whoAmI(
    target: { readonly url: string },
    request: Omit<Request, 'body'>,
  ): Promise<{ status: number; user: unknown }> {
    const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
    const path = 'POST /apis/authentication.k8s.io/v1/selfsubjectreviews';
    const reply = await this.send(target, path, { ...request, body });
    const parsed = record(JSON.parse(reply.body.toString('utf8')));
    return {
      status: reply.status,
      user: reply.status === 201 ? record(parsed['status'])['userInfo'] : parsed['message'],
    };
  }

  /** Returns the decision of kube-apiserver. `resourceAttributes`: as in a SubjectAccessReview. */
  async isAllowed(
    { name, groups }: { readonly name: string; readonly groups: readonly string[] },
    resourceAttributes: object,
  ): Promise<boolean> {
    const path = '/apis/authorization.k8s.io/v1/subjectaccessreviews';
    const spec = { user: name, groups, resourceAttributes };
    const body = { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', spec };
    const answer = await this.controlPlane.client.expect(path, { method: 'POST', body }, [201]);
    return record(record(JSON.parse(answer.body))['status'])['allowed'] === true;
  }

  /** The user of a request in the log of a server. */
  async userOf(server: ServerProcess, request: Omit<Request, 'body'>): Promise<string> {
    const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
    const path = 'POST /apis/authentication.k8s.io/v1/selfsubjectreviews';
    const auditID = (await this.send(server, path, { ...request, body })).header('audit-id') ?? '';
    let line: string | undefined;
    await this.until(async () => {
      const lines = (await readFile(server.logFile, 'utf8')).split('\n');
      line = lines.find((candidate) => candidate.includes(`"requestID":"${auditID}"`));
      return line !== undefined;
    });
    return text(record(JSON.parse(line ?? ''))['user']);
  }

  /** The line `gateway` of /readyz?verbose. */
  async readiness(server: ServerProcess): Promise<string | undefined> {
    const { body } = await this.send(server, 'GET /readyz?verbose');
    return /^\[\+\]gateway ok: (.*)$/m.exec(body.toString('utf8'))?.[1];
  }

  certificateOf(name: string, groups: readonly string[] = []): Promise<KeyPair> {
    return this.controlPlane.pki.issueClient({ cn: name, o: groups });
  }

  async install(component: Component): Promise<void> {
    const file = join(ROOT, 'manifests/components', component, 'access.yaml');
    await apply(this.controlPlane, await readFile(file, 'utf8'), this.signal);
  }

  /** Deletes the ServiceAccount of the component. */
  async uninstall(): Promise<void> {
    const path = '/api/v1/namespaces/platform-system/serviceaccounts/ks-apiserver-impersonator';
    await this.controlPlane.client.expect(path, { method: 'DELETE' }, [200]);
  }

  async apply(objects: readonly object[]): Promise<void> {
    const list = { apiVersion: 'v1', kind: 'List', items: objects };
    await apply(this.controlPlane, JSON.stringify(list), this.signal);
  }

  /** Creates a user, and signs the user in at a server. */
  async signIn(server: ServerProcess, name: string, groups: readonly string[]): Promise<string> {
    const create = async (kind: string, spec: object): Promise<string> => {
      const path = `/apis/iam.platform.io/v1beta1/${kind.toLowerCase()}s`;
      const body = { apiVersion: 'iam.platform.io/v1beta1', kind, metadata: { name }, spec };
      const answer = await this.controlPlane.client.expect(path, { method: 'POST', body }, [201]);
      return text(record(record(JSON.parse(answer.body))['metadata'])['uid']);
    };
    const userUID = await create('User', { groups });
    const passwordHash = await hash(PASSWORD);
    await create('Credential', { userUID, passwordHash, changedTime: new Date().toISOString() });
    const form = { grant_type: 'password', username: name, password: PASSWORD };
    using http = new Client(server.url, { ca: this.controlPlane.ca });
    let token = '';
    await this.until(async () => {
      const body = new URLSearchParams({ ...form, ...PLATFORM_CLIENT });
      const answer = await http.send('/oauth/token', { method: 'POST', body });
      if (answer.status === 200) token = text(record(JSON.parse(answer.body))['access_token']);
      return token !== '';
    });
    return token;
  }

  async signOut(server: ServerProcess, token: string): Promise<void> {
    using http = new Client(server.url, { ca: this.controlPlane.ca });
    const body = new URLSearchParams({ token, ...PLATFORM_CLIENT });
    await http.send('/oauth/revoke', { method: 'POST', body });
  }

  /** A token of a ServiceAccount. */
  async tokenOf(namespace: string, name: string): Promise<string> {
    const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`;
    const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} };
    const { client } = this.controlPlane;
    const answer = await client.expect(path, { method: 'POST', body }, [201]);
    return text(record(record(JSON.parse(answer.body))['status'])['token']);
  }

  /** A kubeconfig with the address of a server and a client certificate. */
  async kubeconfigAt(server: ServerProcess, name: string): Promise<string> {
    const content = await readFile(await this.controlPlane.kubeconfigFor({ name }), 'utf8');
    const file = join(this.#parts.dir, `${name}.kubeconfig`);
    await writeFile(file, content.replace(this.controlPlane.url, server.url));
    return file;
  }

  /** Runs kubectl with a token, without the credentials of a kubeconfig. */
  kubectlWith(server: ServerProcess, token: string, ...args: string[]): Promise<Output> {
    const ca = this.controlPlane.pki.files.clusterCa;
    const flags = [`--server=${server.url}`, `--certificate-authority=${ca}`, `--token=${token}`];
    return this.kubectl({ kubeconfig: '/dev/null' }, ...flags, ...args);
  }

  /** Runs kubectl. */
  kubectl({ kubeconfig }: { readonly kubeconfig: string }, ...args: string[]): Promise<Output> {
    return new Promise((resolve) => {
      execFile(
        this.controlPlane.kubectl,
        ['--kubeconfig', kubeconfig, ...args],
        { env: { HOME: this.#parts.dir }, timeout: 60_000 },
        (error, stdout, stderr) =>
          resolve({ code: error === null ? 0 : Number(error.code ?? -1), stdout, stderr }),
      );
    });
  }

  /** Starts a long-running kubectl. */
  spawnKubectl(
    { kubeconfig }: { readonly kubeconfig: string },
    env: NodeJS.ProcessEnv,
    ...args: string[]
  ): ChildProcessWithoutNullStreams {
    return spawn(this.controlPlane.kubectl, ['--kubeconfig', kubeconfig, ...args], {
      env: { HOME: this.#parts.dir, ...env },
      signal: this.signal,
    }).on('error', () => undefined);
  }

  /** Makes kube-apiserver trust the tokens of `passthrough`. */
  trust(): Promise<void> {
    return this.#parts.trust();
  }

  /** The records of a request in the audit log of kube-apiserver. */
  auditRecords(auditID: string): Promise<Readonly<Record<string, unknown>>[]> {
    return this.#parts.auditLog.records(auditID);
  }

  async until(condition: () => Promise<boolean>): Promise<void> {
    while (!(await condition())) await delay(POLL_MS, undefined, { signal: this.signal });
  }

  get signal(): AbortSignal {
    return this.#parts.ended.signal;
  }

  async stop(): Promise<void> {
    const { controlPlane, proxy, passthrough, impersonating, pods, ended, dir } = this.#parts;
    pods.stop();
    for (const server of [passthrough, impersonating]) removeNote(server);
    ended.abort();
    await Promise.all([passthrough.stop('SIGKILL'), impersonating.stop('SIGKILL'), proxy.stop()]);
    await controlPlane.stop();
    await rm(dir, { recursive: true, force: true });
  }
}
