// Starts a control plane, and a token issuer that serves OIDC metadata and keys over TLS.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { record, recordIn } from '../../../../apis/reading/unknown-value.ts';
import { Client } from '../../../../hack/control-plane/client.ts';
import { type ControlPlane, startControlPlane } from '../../../../hack/control-plane/control-plane.ts';
import { authenticationConfiguration } from '../../../../hack/generate/authentication-configuration.ts';
import { freePort } from '../../../../hack/system/ports.ts';
import { ClusterConnection } from '../../../../server/cluster/connection/connection.ts';
import { kubeConfigSource } from '../../../../server/cluster/connection/kubeconfig.ts';
import { SharedSecret } from '../../../../server/cluster/secrets/shared-secret.ts';
import { keysHandler, metadataHandler } from '../../../../server/oauth/endpoints/server-metadata.ts';
import { SecretKeyRing } from '../../../../server/oauth/keys/secret-key-ring.ts';
import { HandlerServer } from '../../../support/handler-server.ts';
import { until } from '../../../support/until.ts';

export const AUDIENCE = 'platform';
const NAMESPACE = 'default';
const SECRET = 'ks-apiserver-signing-keys';

export class IssuingServer {
  readonly controlPlane: ControlPlane;
  readonly issuer: string;
  readonly client: ClusterConnection;
  readonly #kubeAPIServer: Client;
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
    this.#kubeAPIServer = new Client(controlPlane.url, controlPlane);
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
    const options = { client: this.client, ...this.place, log: pino({ level: 'silent' }) };
    const secret = new SharedSecret(options);
    const ring = new SecretKeyRing({ ...options, secret });
    this.#running.push(secret.run(this.#stop.signal));
    return ring;
  }

  /** The user of a token in kube-apiserver, or the status of the error. */
  async userOf(token: string): Promise<Readonly<Record<string, unknown>> | number> {
    const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
    const { status, body: answer } = await this.#kubeAPIServer.send(
      '/apis/authentication.k8s.io/v1/selfsubjectreviews',
      { method: 'POST', body, token },
    );
    return status === 201 ? recordIn(record(JSON.parse(answer))['status'], 'userInfo') : status;
  }

  /** kube-apiserver reads the file and fetches the issuer's documents at its own pace. */
  untilTrusted(token: string): Promise<void> {
    return until(async () => (await this.userOf(token)) !== 401);
  }

  async #serve(port: number): Promise<void> {
    await until(() => this.keys.ready);
    const { pki } = this.controlPlane;
    const tls = await pki.cluster.issueServer({ cn: 'issuer' }, { dns: ['localhost'], ip: ['127.0.0.1'] });
    const metadata = metadataHandler({ issuer: () => this.issuer, clients: [] });
    const keys = keysHandler({ keys: this.keys, publishAhead: 1000 });
    const server = new HandlerServer((context) => {
      return context.info.path.endsWith('/openid-configuration') ? metadata(context) : keys(context);
    }, tls);
    this.#server = await server.start(port);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#running);
    await this.#server?.close();
    this.client.close();
    this.#kubeAPIServer.close();
    await this.controlPlane.stop();
    await rm(this.#dir, { recursive: true, force: true });
  }
}
