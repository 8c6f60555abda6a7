// Platform with interactive pods for tests of the gateway.
import { appendFile, readFile } from 'node:fs/promises';
import { record, recordIn, text } from '../../../apis/reading/unknown-value.ts';
import type { KeyPair } from '../../../hack/control-plane/certificate-authority.ts';
import { Client } from '../../../hack/control-plane/client.ts';
import type { ServerProcess } from '../../../hack/extension/server-process.ts';
import { until } from '../../support/until.ts';
import { type Output, PASSWORD, PLATFORM_CLIENT, Platform, type PlatformOptions } from '../platform.ts';
import { AuditLog } from './audit-log.ts';
import { type InteractivePods, type Pod, startInteractivePods } from './interactive-pods.ts';
import { type RawResponse, type RawTarget, rawRequest } from './raw-request.ts';

/** Where a request goes: to kube-apiserver, or to the gateway. */
export type Side = 'direct' | 'gateway';
export const SIDES: readonly Side[] = ['direct', 'gateway'];

export class GatewayPlatform {
  readonly platform: Platform;
  readonly auditLog: AuditLog;
  readonly #pods: InteractivePods;
  readonly #attached: string;
  #reader: Promise<KeyPair> | undefined;

  private constructor(platform: Platform, pods: InteractivePods, attached: string, auditLog: AuditLog) {
    this.platform = platform;
    this.auditLog = auditLog;
    this.#pods = pods;
    this.#attached = attached;
  }

  static async start(options: PlatformOptions): Promise<GatewayPlatform> {
    let auditLog: AuditLog | undefined;
    const flagsIn = async (dir: string): Promise<readonly string[]> => {
      auditLog = await AuditLog.prepare(dir);
      return [...auditLog.flags, ...((await options.flagsIn?.(dir)) ?? [])];
    };
    const platform = await Platform.start(0, { ...options, flagsIn });
    try {
      if (!auditLog) throw new Error('the platform has started without an audit log');
      const attached = await platform.write('attached.log', 'first line\n');
      const { controlPlane, signal } = platform;
      const pods = await startInteractivePods(controlPlane, { attached, signal });
      return new GatewayPlatform(platform, pods, attached, auditLog);
    } catch (error) {
      await platform.stop();
      throw error;
    }
  }

  /** A running pod. */
  get pod(): Pod {
    return this.#pods.pod;
  }

  /** Creates a user with a password. Groups: those of the token. */
  createUser(name: string, groups: readonly string[] = []): Promise<void> {
    return this.platform.addUser(name, PASSWORD, { groups });
  }

  /** Signs a user in. Resolves with an access token that both servers accept. */
  async signIn(username: string): Promise<string> {
    const token = await this.platform.signIn(username);
    await this.platform.accepted(token);
    return token;
  }

  /** Revokes the session of a token. */
  async signOut(token: string): Promise<void> {
    const body = new URLSearchParams({ token, ...PLATFORM_CLIENT });
    await this.platform.client.send('/oauth/revoke', { method: 'POST', body });
  }

  async serviceAccountToken(namespace: string, name: string): Promise<string> {
    const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`;
    const request = { method: 'POST', body: { spec: {} } } as const;
    const { body } = await this.platform.controlPlane.client.expect(path, request, [201]);
    return text(recordIn(record(JSON.parse(body)), 'status')['token']);
  }

  /** `side`: can be a replica of the gateway. */
  target(side: Side | ServerProcess): RawTarget {
    const url = typeof side === 'object' ? side.url : this.#urlOf(side);
    return { port: Number(new URL(url).port), ca: this.platform.controlPlane.ca };
  }

  /** Sends a request as given bytes. `lines`: the request line and headers. */
  raw(
    side: Side | ServerProcess,
    lines: readonly string[],
    body?: Buffer | string,
    opened?: () => void,
  ): Promise<RawResponse> {
    return rawRequest(this.target(side), lines, body, opened);
  }

  /** Arguments of kubectl for one side with a token, without the credentials of the administrator. */
  flags(side: Side, token: string): string[] {
    return this.platform.flags(token, this.#urlOf(side));
  }

  kubectl(side: Side, token: string, ...args: string[]): Promise<Output> {
    return this.platform.kubectl(...this.flags(side, token), ...args);
  }

  /** Appends to the file that `kubectl attach` follows. */
  async appendAttached(line: string): Promise<void> {
    await appendFile(this.#attached, line);
  }

  /** Resolves when no stream of the gateway is open. */
  async settled(): Promise<void> {
    await until(async () => (await this.metric('gateway_open_requests{kind="stream"}')) === 0);
  }

  /** The value of a metric of the server; 0 if it is absent. `series`: name and labels. */
  async metric(series: string, server = this.platform.server): Promise<number> {
    const { pki, ca } = this.platform.controlPlane;
    this.#reader ??= pki.issueClient({ cn: 'metrics-reader', o: ['system:masters'] });
    using client = new Client(server.url, { ca, pair: await this.#reader });
    const { body } = await client.send('/metrics');
    const line = body.split('\n').find((candidate) => candidate.startsWith(`${series} `));
    return line === undefined ? 0 : Number(line.slice(series.length + 1));
  }

  serverLog(): Promise<string> {
    return readFile(this.platform.server.logFile, 'utf8');
  }

  async stop(): Promise<void> {
    this.#pods[Symbol.dispose]();
    await this.platform.stop();
  }

  #urlOf(side: Side): string {
    const { controlPlane, server } = this.platform;
    return side === 'direct' ? controlPlane.url : server.url;
  }
}
