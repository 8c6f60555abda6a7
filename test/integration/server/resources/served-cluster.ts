// Test fixture: a real control plane, and ks-apiserver in the process of the test.
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { array, record, recordIn, text } from '../../../../apis/reading/unknown-value.ts';
import type { KeyPair } from '../../../../hack/control-plane/certificate-authority.ts';
import { type ControlPlane, startControlPlane } from '../../../../hack/control-plane/control-plane.ts';
import { readPair } from '../../../../hack/control-plane/pki.ts';
import { freePort } from '../../../../hack/system/ports.ts';
import { completeConfig } from '../../../../server/config.ts';
import { readEnvironment } from '../../../../server/environment.ts';
import { createLogger } from '../../../../server/observability/logger.ts';
import { run } from '../../../../server/server.ts';
import { until } from '../../../support/until.ts';
import { LiveEvents } from './live-events.ts';

const PLATFORM = '/kapis/resources.platform.io/v1alpha3';

type Fields = Readonly<Record<string, unknown>>;

/** A client certificate, or a bearer token. */
export type Caller = Partial<KeyPair> & { readonly token?: string };

interface Sent {
  /** The administrator of the cluster by default. */
  readonly caller?: Caller | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  /** The body of a POST. */
  readonly form?: URLSearchParams;
}

export interface ListResponse {
  readonly status: number;
  readonly body: Fields;
  /** Names of the items. */
  readonly names: readonly string[];
  /** Time until the end of the response, in ms. */
  readonly ms: number;
}

/** A server of this process, with the permissions of an administrator. */
export class ServedPlatform {
  readonly #controlPlane: ControlPlane;
  readonly #port: number;
  readonly #admin: KeyPair;
  readonly #agent = new Agent({ keepAlive: true });
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;

  constructor(
    controlPlane: ControlPlane,
    port: number,
    admin: KeyPair,
    running: (stop: AbortSignal) => Promise<void>,
  ) {
    this.#controlPlane = controlPlane;
    this.#port = port;
    this.#admin = admin;
    this.#running = running(this.#stop.signal);
  }

  async ready(): Promise<this> {
    await until(() =>
      this.#send('/readyz').then(
        async (response) => {
          await once(response.resume(), 'end');
          return response.statusCode === 200;
        },
        () => false,
      ),
    );
    return this;
  }

  /** Returns a page of a list. `path`: below the platform path, for instance `pods?limit=1`. */
  async list(path: string, caller?: Caller): Promise<ListResponse> {
    const began = performance.now();
    const response = await this.#send(`${PLATFORM}/${path}`, { caller });
    const body = record(JSON.parse(await textOf(response)));
    return {
      status: response.statusCode ?? 0,
      body,
      names: array(body['items']).map((item) => text(recordIn(item, 'metadata')['name'])),
      ms: performance.now() - began,
    };
  }

  /** Opens a live list. */
  async live(path: string, caller?: Caller): Promise<LiveEvents> {
    const headers = { accept: 'text/event-stream' };
    const response = await this.#send(`${PLATFORM}/${path}`, { caller, headers });
    if (response.statusCode !== 200) throw new Error(`${response.statusCode} ${await textOf(response)}`);
    return new LiveEvents(response);
  }

  /** Returns an access token of the password grant. */
  async signIn(username: string, password: string): Promise<string> {
    const client = { client_id: 'platform', client_secret: 'platform' };
    const form = new URLSearchParams({ grant_type: 'password', ...client, username, password });
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const response = await this.#send('/oauth/token', { headers, form });
    const body = await textOf(response);
    if (response.statusCode !== 200) throw new Error(body);
    return text(record(JSON.parse(body))['access_token']);
  }

  /** Returns the samples of a metric by their labels, for instance `{resource="pods"}`. */
  async metric(name: string): Promise<ReadonlyMap<string, number>> {
    const lines = (await textOf(await this.#send('/metrics'))).split('\n');
    return new Map(
      lines
        .filter((line) => line.startsWith(`${name}{`))
        .map((line) => {
          const end = line.lastIndexOf('}') + 1;
          return [line.slice(name.length, end), Number(line.slice(end))];
        }),
    );
  }

  /** Returns the number of complete lists of each kind that the server has requested from the cluster. */
  async lists(): Promise<Readonly<Record<string, number>>> {
    const counts: Record<string, number> = {};
    for (const [labels, count] of await this.metric('reflector_lists_total')) {
      const kind = /resource="([^"]*)"/.exec(labels)?.[1] ?? '';
      counts[kind] = (counts[kind] ?? 0) + count;
    }
    return counts;
  }

  /** Stops the server gracefully. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
    this.#agent.destroy();
  }

  async #send(
    path: string,
    { caller = this.#admin, headers = {}, form }: Sent = {},
  ): Promise<IncomingMessage> {
    const { token, ...pair } = caller;
    const sent = request({
      host: '127.0.0.1',
      port: this.#port,
      path,
      method: form ? 'POST' : 'GET',
      headers: { ...headers, ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) },
      agent: this.#agent,
      ca: this.#controlPlane.ca,
      ...pair,
    });
    sent.end(form?.toString());
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    return response;
  }
}

async function textOf(response: IncomingMessage): Promise<string> {
  let body = '';
  for await (const chunk of response) body += String(chunk);
  return body;
}

export class ServedCluster {
  readonly controlPlane: ControlPlane;
  readonly dir: string;
  readonly #stop: AbortController;
  readonly #servers: ServedPlatform[] = [];

  private constructor(controlPlane: ControlPlane, dir: string, stop: AbortController) {
    this.controlPlane = controlPlane;
    this.dir = dir;
    this.#stop = stop;
  }

  static async start(): Promise<ServedCluster> {
    const dir = await mkdtemp(join(tmpdir(), 'resource-cluster-'));
    const stop = new AbortController();
    const controlPlane = await startControlPlane({ dir: join(dir, 'control-plane'), signal: stop.signal });
    return new ServedCluster(controlPlane, dir, stop);
  }

  /** Starts a server. `resources`: a section of its configuration; `sections`: other ones. */
  async serve(resources: Fields, sections: Fields = {}): Promise<ServedPlatform> {
    const { pki, kubeconfig } = this.controlPlane;
    const port = await freePort();
    const tls = await pki.cluster.issueServer({ cn: 'server' }, { dns: ['localhost'], ip: ['127.0.0.1'] });
    const file = (name: string): string => join(this.dir, `${port}-${name}`);
    const [certFile, keyFile, config] = [file('tls.crt'), file('tls.key'), file('config.yaml')];
    await writeFile(certFile, tls.cert);
    await writeFile(keyFile, tls.key);
    const configuration = {
      apiVersion: 'config.platform.io/v1alpha1',
      kind: 'APIServerConfiguration',
      listeners: {
        secure: { address: '127.0.0.1', port, certFile, keyFile },
        insecure: { enabled: false },
      },
      kubernetes: { kubeconfig },
      registration: { manageCABundle: false },
      logging: { enabled: false },
      oauth: { enabled: false },
      shutdown: { readinessDelay: '0s' },
      resources,
      ...sections,
    };
    await writeFile(config, stringify(configuration));
    const completed = await completeConfig({
      config,
      overrides: [],
      environment: readEnvironment({}, 'test'),
      workingDirectory: this.dir,
    });
    const log = createLogger({ level: 'warn', format: 'json' }, { write: () => undefined });
    const admin = await readPair(pki.files.admin);
    const server = new ServedPlatform(this.controlPlane, port, admin, (stop) => run(completed, stop, log));
    this.#servers.push(server);
    return server.ready();
  }

  async create(path: string, body: object): Promise<Fields> {
    const { body: created } = await this.controlPlane.client.expect(path, { method: 'POST', body }, [201]);
    return record(JSON.parse(created));
  }

  async patch(path: string, body: object): Promise<void> {
    const contentType = 'application/merge-patch+json';
    await this.controlPlane.client.expect(path, { method: 'PATCH', body, contentType }, [200]);
  }

  async delete(path: string): Promise<void> {
    await this.controlPlane.client.expect(path, { method: 'DELETE' }, [200, 202]);
  }

  /** Creates an object of a new kind: kube-apiserver serves the kind some time after its definition. */
  async createSoon(path: string, body: object): Promise<void> {
    await until(async () => {
      const { status } = await this.controlPlane.client.send(path, { method: 'POST', body });
      return status === 201;
    });
  }

  async exists(path: string): Promise<boolean> {
    return (await this.controlPlane.client.send(path)).status === 200;
  }

  async stop(): Promise<void> {
    for (const server of this.#servers) await server.stop();
    await this.controlPlane.stop();
    this.#stop.abort();
    await rm(this.dir, { recursive: true, force: true });
  }
}
