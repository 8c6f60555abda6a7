// Steady load on a real installation from outside the pods: requests, sign-ins, exec, and streams that resume.
import { record, recordIn, text } from '../../apis/reading/unknown-value.ts';
import type { TokenAnswer, TokenClient } from '../../hack/bench/measuring/token-client.ts';
import { PASSWORD } from '../../hack/bench/scene/crowd.ts';
import { CORE_NODES, OUR_NODES } from '../../hack/bench/scene/scene.ts';
import { NODE_NAME } from '../../hack/cluster/configuration.ts';
import { Client } from '../../hack/control-plane/client.ts';
import { type KnownError, Recorder, runLoad, type Task } from '../../hack/soak/load.ts';
import { openEcho } from '../../hack/soak/streams.ts';
import { COUNTER, Follower, type Protocol, type StreamServer, tail, watch } from './follower.ts';

/** Namespace, ServiceAccount and pod. The pod counts in its log, five lines per second. */
export const TRAFFIC = 'traffic';
/** Users that sign in. */
export const USERS = Array.from({ length: 10 }, (_, index) => `traffic-${index}`);
/** User of a session that is refreshed. */
export const REFRESHED = 'traffic-refreshed';

interface LoadTarget {
  /** kube-apiserver, as an administrator. */
  readonly cluster: StreamServer;
  /** The Service, with a token that is allowed everything. */
  readonly service: StreamServer & { readonly token: string };
  readonly tokens: TokenClient;
}

export interface Counts {
  readonly requests: number;
  readonly newConnections: number;
  readonly errors: readonly KnownError[];
  readonly resumed: number;
}

const REQUEST_MS = 15_000;
const NEW_CONNECTION = 'new connection';
const LOGS = `/kapis/logging.platform.io/v1alpha2/logs?namespaces=${TRAFFIC}`;
const EXEC = `/api/v1/namespaces/${TRAFFIC}/pods/${TRAFFIC}/exec?command=head&command=-c&command=5&stdin=true&stdout=true`;

export class SteadyLoad implements AsyncDisposable {
  /** The last number of the counter of the node. */
  counter = 0;
  readonly watches: readonly Follower[];
  readonly tail: Follower;
  readonly #recorder = new Recorder();
  /** The times of errors are relative to it. */
  readonly began = new Date();
  readonly #stop = new AbortController();
  readonly #running: Promise<unknown>;
  readonly #target: LoadTarget;
  readonly #admin: Client;
  readonly #kept: Client;
  #resumed = 0;

  private constructor(target: LoadTarget, session: TokenAnswer, versions: readonly [string, string]) {
    const { cluster, service } = target;
    this.#target = target;
    this.#admin = new Client(cluster.url, cluster);
    this.#kept = new Client(service.url, service);
    const nodes = (): Protocol => watch(OUR_NODES, NODE_NAME, versions[0]);
    const aggregated = new Follower('watch through kube-apiserver', nodes());
    const direct = new Follower('watch at the Service', nodes());
    const gateway = new Follower('watch at the gateway', watch(CORE_NODES, NODE_NAME, versions[1]));
    const since = `start_time=${Math.floor(Date.now() / 1000)}`;
    this.watches = [aggregated, direct, gateway];
    this.tail = new Follower('live tail', tail(`${LOGS}&${since}&follow=true`));
    const { signal } = this.#stop;
    this.#running = Promise.all([
      runLoad(this.#tasks(session, since), this.#recorder, signal),
      aggregated.run(cluster, this.#recorder, signal),
      ...[direct, gateway, this.tail].map((each) => each.run(service, this.#recorder, signal)),
    ]);
  }

  static async start(target: LoadTarget): Promise<SteadyLoad> {
    using admin = new Client(target.cluster.url, target.cluster);
    const version = async (path: string): Promise<string> =>
      text(recordIn(record(await admin.get(path)), 'metadata')['resourceVersion']);
    const session = await target.tokens.signIn(REFRESHED, PASSWORD);
    return new SteadyLoad(target, session, [await version(OUR_NODES), await version(CORE_NODES)]);
  }

  /** Returns the counts since the previous call. */
  take(): Counts {
    const latencies = this.#recorder.takeLatencies();
    const errors = [...this.#recorder.errors.values()];
    this.#recorder.errors.clear();
    const resumed = [...this.watches, this.tail].reduce((sum, each) => sum + each.resumed, -this.#resumed);
    this.#resumed += resumed;
    const succeeded = [...latencies.values()].reduce((sum, { length }) => sum + length, 0);
    const requests = errors.reduce((sum, { count }) => sum + count, succeeded);
    return { requests, newConnections: latencies.get(NEW_CONNECTION)?.length ?? 0, errors, resumed };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#running;
    this.#admin.close();
    this.#kept.close();
  }

  #tasks(first: TokenAnswer, since: string): Task[] {
    const { service, tokens } = this.#target;
    const { token } = service;
    const [admin, kept] = [this.#admin, this.#kept];
    let [session, turn] = [first, 0];
    const task = (name: string, everyMs: number, work: Task['work']): Task => ({
      name,
      everyMs,
      work: (signal) =>
        this.#recorder.time(name, () => work(AbortSignal.any([signal, AbortSignal.timeout(REQUEST_MS)]))),
    });
    const get = (name: string, everyMs: number, path: string): Task => ({
      ...task(name, everyMs, (signal) => kept.expect(path, { token, signal }, [200])),
      lanes: 4,
    });
    return [
      get('read on a kept connection', 40, `${OUR_NODES}/${NODE_NAME}`),
      get('read at the gateway', 100, `${CORE_NODES}/${NODE_NAME}`),
      { ...task('aggregated read', 100, (signal) => admin.get(OUR_NODES, signal)), lanes: 4 },
      task(NEW_CONNECTION, 50, async (signal) => {
        using client = new Client(service.url, service, 1);
        await client.expect('/livez', { signal }, [200]);
      }),
      task('sign-in', 400, () => tokens.signIn(USERS[turn++ % USERS.length] ?? '', PASSWORD)),
      task('refresh', 400, async () => {
        try {
          session = await tokens.refresh(session.refresh_token);
        } catch (error) {
          // The server may have used the token, and its reuse would terminate the session (docs/users.md#sessions).
          session = await tokens.signIn(REFRESHED, PASSWORD);
          throw error;
        }
      }),
      task('export', 1_000, async (signal) => {
        const path = `${LOGS}&${since}&operation=export&format=ndjson`;
        const { body } = await kept.expect(path, { token, signal }, [200]);
        if (body.includes('{"error"')) throw new Error(`incomplete export: ${body.slice(-200)}`);
      }),
      task('exec', 1_000, async (signal) => (await openEcho({ ...service, signal }, EXEC, 1)).drop()),
      {
        name: 'change of the counter',
        everyMs: 200,
        work: (signal) => {
          const body = { metadata: { annotations: { [COUNTER]: `${++this.counter}` } } };
          const patch = { method: 'PATCH', body, contentType: 'application/merge-patch+json' } as const;
          return admin.expect(`${CORE_NODES}/${NODE_NAME}`, { ...patch, signal }, [200]);
        },
      },
    ];
  }
}
