// Starts a control plane, and a token issuer that serves OIDC metadata and keys over TLS.
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pino } from 'pino';
import { type ControlPlane, startControlPlane } from '../../../../hack/control-plane/control-plane.ts';
import { authenticationConfiguration } from '../../../../hack/generate/authentication-configuration.ts';
import { freePort } from '../../../../hack/system/ports.ts';
import { ClusterConnection } from '../../../../server/cluster/connection/connection.ts';
import { kubeConfigSource } from '../../../../server/cluster/connection/kubeconfig.ts';
import {
  keysHandler,
  metadataHandlers,
  OPENID_CONFIGURATION,
} from '../../../../server/oauth/endpoints/discovery.ts';
import { SecretKeyRing } from '../../../../server/oauth/keys/secret-key-ring.ts';
import { HandlerServer } from '../../../support/handler-server.ts';

export const AUDIENCE = 'platform';
const NAMESPACE = 'default';
const SECRET = 'ks-apiserver-signing-keys';

export class IssuingServer {
  readonly controlPlane: ControlPlane;
  readonly issuer: string;
  readonly client: ClusterConnection;
  readonly keys: SecretKeyRing;
  readonly place = { namespace: NAMESPACE, name: SECRET };
  readonly #dir: string;
  readonly #stop: AbortController;
  readonly #running: Promise<void>[] = [];
  #server: HandlerServer | undefined;

  private constructor(controlPlane: ControlPlane, dir: string, stop: AbortController, issuer: string) {
    this.controlPlane = controlPlane;
    this.#dir = dir;
    this.#stop = stop;
    this.issuer = issuer;
    this.client = new ClusterConnection({ kubeConfig: kubeConfigSource(controlPlane.kubeconfig) });
    this.keys = this.follow();
  }

  /** The issuer starts only after kube-apiserver. */
  static async start(): Promise<IssuingServer> {
    const dir = await mkdtemp(join(tmpdir(), 'issuing-server-'));
    const stop = new AbortController();
    const port = await freePort();
    const issuer = `https://127.0.0.1:${port}/oauth`;
    const file = join(dir, 'authentication.yaml');
    await writeFile(file, authenticationConfiguration(undefined));
    const controlPlane = await startControlPlane({
      dir: join(dir, 'control-plane'),
      signal: stop.signal,
      controllers: false,
      extraApiserverFlags: [`--authentication-config=${file}`],
    });
    const self = new IssuingServer(controlPlane, dir, stop, issuer);
    await writeFile(
      file,
      authenticationConfiguration({ url: issuer, audience: AUDIENCE, certificateAuthority: controlPlane.ca }),
    );
    await self.#serve(port);
    return self;
  }

  /** A further replica that watches the keys. */
  follow(): SecretKeyRing {
    const ring = new SecretKeyRing({ client: this.client, ...this.place, log: pino({ level: 'silent' }) });
    this.#running.push(ring.run(this.#stop.signal));
    return ring;
  }

  /** Resolves when `holds` accepts the keys of the ring. */
  async until(ring: SecretKeyRing, holds: (ring: SecretKeyRing) => boolean): Promise<void> {
    if (ring.ready && holds(ring)) return;
    await new Promise<void>((resolve) => {
      const end = ring.subscribe(() => {
        if (!holds(ring)) return;
        end();
        resolve();
      });
    });
  }

  /** The response of kube-apiserver to a request with this token. */
  ask(token: string, path: string, body?: unknown): Promise<{ status: number; body: unknown }> {
    return askWith(this.controlPlane, token, path, body);
  }

  /** kube-apiserver reads the file and fetches the issuer's documents at its own pace. */
  async untilTrusted(token: string): Promise<void> {
    const signal = AbortSignal.timeout(90_000);
    while ((await this.ask(token, '/version')).status === 401) await delay(200, undefined, { signal });
  }

  async #serve(port: number): Promise<void> {
    await this.until(this.keys, () => true);
    const { pki } = this.controlPlane;
    const tls = await pki.cluster.issueServer({ cn: 'issuer' }, { dns: ['localhost'], ip: ['127.0.0.1'] });
    const metadata = metadataHandlers({ issuer: () => this.issuer, clients: [] });
    const keys = keysHandler({ keys: this.keys, publishAhead: 1000 });
    const server = new HandlerServer((context) => {
      const handler = context.info.path === OPENID_CONFIGURATION ? metadata.get(OPENID_CONFIGURATION) : keys;
      return handler?.(context);
    }, tls);
    this.#server = await server.start(port);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#running);
    await this.#server?.close();
    this.client.close();
    await this.controlPlane.stop();
    await rm(this.#dir, { recursive: true, force: true });
  }
}

async function askWith(
  { url, ca }: ControlPlane,
  token: string,
  path: string,
  body: unknown,
): Promise<{ status: number; body: unknown }> {
  const sent = request(new URL(path, url), {
    ca,
    agent: false,
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
  });
  sent.end(body === undefined ? undefined : JSON.stringify(body));
  const [incoming] = (await once(sent, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return {
    status: incoming.statusCode ?? 0,
    body: JSON.parse(Buffer.concat(chunks).toString('utf8')) as unknown,
  };
}
