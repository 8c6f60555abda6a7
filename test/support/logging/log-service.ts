// Test fixture: an HTTP server for log queries. The test provides the log store and the permissions.
import { Registry } from 'prom-client';
import { array, record, recordIn, text } from '../../../apis/reading/unknown-value.ts';
import type { LogRecord as StoredRecord } from '../../../hack/log-stores/record.ts';
import { Admission } from '../../../server/admission/admission.ts';
import { sharerOf, type UserInfo } from '../../../server/authentication/user.ts';
import type { Attributes, Decision } from '../../../server/authorization/authorizer.ts';
import { NamespaceScopes } from '../../../server/authorization/namespace-scopes.ts';
import type { Namespace } from '../../../server/authorization/namespaces.ts';
import { TimeSlicer } from '../../../server/concurrency/time-slicer.ts';
import { Scopes } from '../../../server/logging/access/scope.ts';
import { type LogLimits, logsHandler } from '../../../server/logging/endpoints/logs-handler.ts';
import { LogMetrics } from '../../../server/logging/store/log-metrics.ts';
import type { LogStore } from '../../../server/logging/store/log-store.ts';
import { HandlerServer } from '../handler-server.ts';

export const LOGS = '/kapis/logging.platform.io/v1alpha2/logs';
/** Wall clock of the handler. */
export const NOW = Date.parse('2026-11-20T12:00:00Z');

const LIMITS: LogLimits = {
  concurrentQueries: 4,
  queuedQueries: 4,
  queueTimeout: 1_000,
  concurrentExports: 2,
  concurrentFollowers: 2,
  queryTimeout: 5_000,
  exportTimeout: 5_000,
  exportLines: 1_000_000,
  followTimeout: 60_000,
  followOverlap: 2_000,
  buckets: 100,
};

export interface LogServiceOptions {
  readonly store: LogStore;
  readonly limits?: Partial<LogLimits>;
  /** Creation times of all namespaces by name. */
  readonly namespaces?: Readonly<Record<string, string>>;
  /** Permission of the caller for a namespace; `''` is the whole cluster. */
  readonly allowed?: (namespace: string) => Promise<boolean> | boolean;
  readonly user?: UserInfo;
  /** Wall clock; NOW by default. */
  readonly now?: () => number;
  /** Monotonic clock in ms. */
  readonly monotonic?: () => number;
}

export class LogService implements AsyncDisposable {
  readonly server: HandlerServer;
  readonly registry = new Registry();
  /** Namespaces of permission checks, in order. */
  readonly checkedNamespaces: string[] = [];
  /** Number of logged warnings. */
  warnings = 0;
  /** The caller; unauthenticated if undefined. */
  user: UserInfo | undefined;
  readonly #end = new AbortController();

  constructor({
    store,
    limits,
    namespaces = {},
    allowed = () => true,
    user,
    now = () => NOW,
    monotonic = () => performance.now(),
  }: LogServiceOptions) {
    this.user = user;
    const known = new Map<string, Namespace>(
      Object.entries(namespaces).map(([name, created]) => [name, { name, createdAt: Date.parse(created) }]),
    );
    const scopes = new NamespaceScopes({
      authorizer: {
        authorize: async (attributes: Attributes): Promise<Decision> => {
          const namespace = 'namespace' in attributes ? attributes.namespace : '';
          this.checkedNamespaces.push(namespace);
          return { allowed: await allowed(namespace), reason: '' };
        },
      },
      namespaces: () => known,
      allowTtlMs: 10_000,
      denyTtlMs: 10_000,
      signal: this.#end.signal,
    });
    const handler = logsHandler({
      store,
      storeName: 'memory',
      scopes: new Scopes(scopes),
      limits: { ...LIMITS, ...limits },
      admission: new Admission(),
      requestTimeoutMs: 60_000,
      slicer: new TimeSlicer(),
      metrics: new LogMetrics(this.registry),
      log: { warn: () => this.warnings++ },
      now,
      monotonic,
    });
    this.server = new HandlerServer((context) =>
      handler({
        ...context,
        receivedAt: now(),
        startedAt: monotonic(),
        ...(this.user && { user: this.user, caller: sharerOf(this.user) }),
      }),
    );
  }

  async start(): Promise<this> {
    await this.server.start();
    return this;
  }

  async stop(): Promise<void> {
    this.#end.abort();
    await this.server.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  ask(query: string, headers: Readonly<Record<string, string>> = {}, method = 'GET') {
    return this.server.ask(`${LOGS}?${query}`, { method, headers });
  }

  async json(query: string): Promise<Readonly<Record<string, unknown>>> {
    return this.server.json(`${LOGS}?${query}`);
  }

  /** The records of a page. */
  async records(query: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
    return recordsIn(await this.json(query));
  }

  /** The lines of a page. */
  async lines(query: string): Promise<string[]> {
    return (await this.records(query)).map(({ log }) => text(log));
  }

  /** All pages by cursor. */
  async *pages(query: string): AsyncGenerator<Readonly<Record<string, unknown>>, void, undefined> {
    for (let cursor = ''; ; ) {
      const page = await this.json(`${query}${cursor}`);
      yield page;
      const next = recordIn(page, 'query')['cursor'];
      if (next === undefined) return;
      cursor = `&cursor=${text(next)}`;
    }
  }
}

/** The records of a response. */
export function recordsIn(answer: unknown): readonly Readonly<Record<string, unknown>>[] {
  return array(recordIn(answer, 'query')['records']).map(record);
}

let number = 0;

/** A record as a collector writes it. */
export function line(
  time: string,
  log: string,
  { namespace = 'shop', pod = 'cart-7d4b9c6f5-x2x9z', container = 'cart' } = {},
): StoredRecord {
  return {
    time,
    log,
    stream: 'stdout',
    kubernetes: {
      namespace_name: namespace,
      pod_name: pod,
      container_name: container,
      pod_id: `pod-${(number += 1)}`,
      docker_id: `${namespace}/${pod}/${container}`,
      container_image: 'image',
      host: 'node',
      labels: {},
    },
  };
}
