// Platform for tests of impersonation and of an untrusted issuer: a kube-apiserver that trusts no issuer at first, and two
// servers. `passthrough` is registered and has the default configuration; its connections to kube-apiserver pass a proxy
// that can freeze them. `impersonating` impersonates all callers.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { record, text } from '../../../apis/reading/unknown-value.ts';
import type { KeyPair } from '../../../hack/control-plane/certificate-authority.ts';
import { Client } from '../../../hack/control-plane/client.ts';
import type { ControlPlane } from '../../../hack/control-plane/control-plane.ts';
import { SERVICE_ACCOUNT } from '../../../hack/extension/registration.ts';
import type { ServerProcess } from '../../../hack/extension/server-process.ts';
import { FreezingProxy } from '../../support/cluster/freezing-proxy.ts';
import { until } from '../../support/until.ts';
import { GatewayPlatform } from '../gateway/gateway-platform.ts';
import { type RawResponse, rawRequest } from '../gateway/raw-request.ts';
import { type Reviewed, reviewed, SELF_REVIEW, SELF_REVIEWS } from '../gateway/self-review.ts';
import { PASSWORD, PLATFORM_CLIENT, type Platform } from '../platform.ts';

/** Origin of pages that may use client certificates at `impersonating`. */
export const ALLOWED_ORIGIN = 'https://console.example.com';

/** A public client of `impersonating`, which accepts its ID tokens. */
export const ID_TOKEN_CLIENT = 'id-tokens';

export type Component = 'gateway-impersonation' | 'gateway-constrained-impersonation';

interface Reply extends RawResponse {
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

export class FallbackPlatform {
  readonly gateway: GatewayPlatform;
  readonly proxy: FreezingProxy;
  readonly impersonating: ServerProcess;

  private constructor(gateway: GatewayPlatform, proxy: FreezingProxy, impersonating: ServerProcess) {
    this.gateway = gateway;
    this.proxy = proxy;
    this.impersonating = impersonating;
  }

  static async start(): Promise<FallbackPlatform> {
    const started = Promise.withResolvers<FreezingProxy>();
    const gateway = await GatewayPlatform.start({
      isTrusted: false,
      configure: async ({ controlPlane, dir }) => {
        const proxy = await FreezingProxy.start(controlPlane.ports.apiserver);
        started.resolve(proxy);
        const direct = await readFile(await controlPlane.kubeconfigFor(SERVICE_ACCOUNT), 'utf8');
        const kubeconfig = join(dir, 'proxied.kubeconfig');
        await writeFile(kubeconfig, direct.replace(controlPlane.url, `https://127.0.0.1:${proxy.port}`));
        return { kubernetes: { kubeconfig } };
      },
    });
    const { client_id: id, client_secret: secret } = PLATFORM_CLIENT;
    const platformClient = { id, secretFiles: [await gateway.platform.write('client-secret', secret)] };
    const clients = [platformClient, { id: ID_TOKEN_CLIENT, public: true, idTokensAtGateway: true }];
    const impersonating = await gateway.platform.startReplica('impersonating', {
      // The issuer is the address of this server.
      oauth: { clients: clients.map((client) => ({ ...client, grants: ['password'] })) },
      gateway: { impersonation: 'all' },
      cors: { allowedOrigins: [ALLOWED_ORIGIN] },
    });
    return new FallbackPlatform(gateway, await started.promise, impersonating);
  }

  get platform(): Platform {
    return this.gateway.platform;
  }

  get controlPlane(): ControlPlane {
    return this.platform.controlPlane;
  }

  get passthrough(): ServerProcess {
    return this.platform.server;
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

  async whoAmI(target: { readonly url: string }, request: Omit<Request, 'body'>): Promise<Reviewed> {
    return reviewed(await this.send(target, `POST ${SELF_REVIEWS}`, { ...request, body: SELF_REVIEW }));
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

  /** The line `gateway` of /readyz?verbose. */
  async readiness(server: ServerProcess): Promise<string | undefined> {
    const { body } = await this.send(server, 'GET /readyz?verbose');
    return /^\[\+\]gateway ok: (.*)$/m.exec(body.toString('utf8'))?.[1];
  }

  certificateOf(name: string, groups: readonly string[] = []): Promise<KeyPair> {
    return this.controlPlane.pki.issueClient({ cn: name, o: groups });
  }

  async install(component: Component): Promise<void> {
    await this.platform.succeeding(`apply --server-side -f manifests/components/${component}/access.yaml`);
  }

  /** Creates a user, and signs the user in at a server. Returns the access token. */
  async signIn(server: ServerProcess, name: string, groups: readonly string[]): Promise<string> {
    await this.platform.addUser(name, PASSWORD, { groups });
    return this.tokenOf(server, name, 'access_token', PLATFORM_CLIENT);
  }

  /** Signs a user in with a client. Returns this token of the response. */
  async tokenOf(
    server: ServerProcess,
    username: string,
    kind: 'access_token' | 'id_token',
    client: Readonly<Record<string, string>>,
  ): Promise<string> {
    const form = { grant_type: 'password', username, password: PASSWORD, scope: 'openid groups', ...client };
    using http = new Client(server.url, { ca: this.controlPlane.ca });
    let token = '';
    await until(async () => {
      const body = new URLSearchParams(form);
      const answer = await http.send('/oauth/token', { method: 'POST', body });
      if (answer.status === 200) token = text(record(JSON.parse(answer.body))[kind]);
      return token !== '';
    });
    return token;
  }

  async signOut(server: ServerProcess, token: string): Promise<void> {
    using http = new Client(server.url, { ca: this.controlPlane.ca });
    const body = new URLSearchParams({ token, ...PLATFORM_CLIENT });
    await http.send('/oauth/revoke', { method: 'POST', body });
  }

  /** A kubeconfig with the address of a server and a client certificate. */
  async kubeconfigAt(server: ServerProcess, name: string): Promise<string> {
    const content = await readFile(await this.controlPlane.kubeconfigFor({ name }), 'utf8');
    return this.platform.write(`${name}.kubeconfig`, content.replace(this.controlPlane.url, server.url));
  }

  async stop(): Promise<void> {
    await this.gateway.stop();
    await this.proxy.stop();
  }
}
