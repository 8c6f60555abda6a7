// Tests of the login throttle that replicas share through a ConfigMap.
import { expect } from 'chai';
import { StatusError } from '../../../../../apis/meta/v1/errors.ts';
import { recordIn } from '../../../../../apis/reading/unknown-value.ts';
import type { ClusterRequest } from '../../../../../server/cluster/connection/client.ts';
import type { ThrottleRecord } from '../../../../../server/oauth/throttle/login-throttle.ts';
import { SharedThrottle } from '../../../../../server/oauth/throttle/shared-throttle.ts';
import {
  bookmark,
  type Call,
  event,
  ScriptedCluster,
  send,
} from '../../../../support/cluster/scripted-cluster.ts';
import { memoryKeyRing } from '../../../../support/oauth/memory-key-ring.ts';
import { running } from '../../../../support/running.ts';
import { until } from '../../../../support/until.ts';

const RECORD: ThrottleRecord = {
  key: 'account-k-abc',
  failures: 5,
  lastAt: 1000,
  knownSources: ['source-k-def'],
};

const MISSING = new StatusError(404, 'NotFound', 'not found');

describe('the shared throttle', () => {
  let cluster: ScriptedCluster;
  /** The watch of the ConfigMap. */
  let watch: PromiseWithResolvers<Call>;
  let requests: (ClusterRequest & { readonly json?: unknown })[];
  /** Called during each write. */
  let requested: () => void;
  /** Errors of the next writes. */
  let failures: Error[];
  let warnings: unknown[];
  let now: number;
  let shared: SharedThrottle;
  let run: AsyncDisposable;

  beforeEach(async () => {
    watch = Promise.withResolvers();
    cluster = await ScriptedCluster.start((call) => {
      if (call.kind === 'stream') watch.resolve(call);
    });
    requests = [];
    requested = () => undefined;
    failures = [];
    warnings = [];
    now = 1_000_000;
    const client = cluster.connect();
    shared = new SharedThrottle({
      limits: {
        failures: 1,
        sourceFailures: 10_000,
        delay: 1000,
        maxDelay: 600_000,
        reset: 900_000,
        entries: 5000,
      },
      sessions: { ofUser: () => [] },
      client: {
        open: (request) => client.open(request),
        json: async (request) => {
          requests.push(request);
          requested();
          const failure = failures.shift();
          if (failure) throw failure;
          return {};
        },
      },
      namespace: 'ns',
      keys: await memoryKeyRing(),
      log: { debug: () => undefined, info: () => undefined, warn: (line: unknown) => warnings.push(line) },
      pauseMs: 1,
      now: () => now,
    });
    run = running((end) => shared.run(end));
  });
  afterEach(async () => {
    await run[Symbol.asyncDispose]();
    await cluster[Symbol.asyncDispose]();
  });

  const fail = (account: string): void => {
    const attempt = shared.logins.attempt(account, '192.0.2.1');
    attempt.begin();
    attempt.failed();
  };
  /** Seconds until the next sign-in. */
  const delayOf = (account: string): number => {
    try {
      shared.logins.attempt(account, '192.0.2.1')[Symbol.dispose]();
      return 0;
    } catch (error) {
      return error instanceof StatusError ? (error.details?.retryAfterSeconds ?? 0) : 0;
    }
  };
  const untilWritten = (count: number): Promise<void> => until(() => requests.length >= count);
  const methods = (): unknown[] => requests.map(({ method }) => method);
  /** `data` of the ConfigMap in this request. */
  const written = (index: number): Readonly<Record<string, unknown>> =>
    recordIn(requests[index]?.json, 'data');
  /** Fails as the accounts; returns their keys in the ConfigMap. */
  const keysOf = async (...accounts: readonly string[]): Promise<readonly string[]> => {
    for (const account of accounts) fail(account);
    await untilWritten(1);
    return Object.keys(written(0));
  };

  const named = (key: string, changes: Partial<ThrottleRecord> = {}): ThrottleRecord => ({
    ...RECORD,
    lastAt: now,
    key,
    ...changes,
  });
  const configMap = (version: number, ...records: readonly ThrottleRecord[]): string => {
    const metadata = {
      namespace: 'ns',
      name: 'ks-apiserver-login-throttle',
      uid: 'u',
      resourceVersion: `${version}`,
    };
    const data = Object.fromEntries(records.map(({ key, ...content }) => [key, JSON.stringify(content)]));
    return JSON.stringify({ kind: 'ConfigMap', metadata, data: { ...data, strange: 'what', empty: '{}' } });
  };

  it('writes delays in batches, as separate keys of the ConfigMap, without names and addresses', async () => {
    fail('alice');
    await untilWritten(1);
    expect(requests[0]).to.deep.include({
      method: 'PATCH',
      path: '/api/v1/namespaces/ns/configmaps/ks-apiserver-login-throttle',
      headers: { 'content-type': 'application/merge-patch+json' },
    });
    expect(Object.keys(written(0))).to.have.length(1);
    for (const account of ['bob', 'carol']) fail(account);
    await untilWritten(2);
    expect(Object.keys(written(1))).to.have.length(2);
    expect(JSON.stringify(requests.map(({ json }) => json))).not.to.match(/alice|bob|carol|192\.0\.2\.1/);
  });

  it('creates a missing ConfigMap, and patches it when another replica has created it', async () => {
    failures = [MISSING, new StatusError(409, 'AlreadyExists', 'already exists')];
    fail('alice');
    await untilWritten(3);
    expect(methods()).to.deep.equal(['PATCH', 'POST', 'PATCH']);
    expect(requests[1]?.path).to.equal('/api/v1/namespaces/ns/configmaps');
    expect(requests[1]?.json).to.deep.include({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'ks-apiserver-login-throttle', namespace: 'ns' },
    });
  });

  it('retries writes with the latest state, and one warning for the same error', async () => {
    const unavailable = new StatusError(503, 'ServiceUnavailable', 'away');
    failures = [unavailable, unavailable, MISSING, unavailable];
    requested = () => {
      if (requests.length > 1) return;
      now += 1000;
      fail('alice');
    };
    fail('alice');
    await untilWritten(5);
    expect(methods()).to.deep.equal(['PATCH', 'PATCH', 'PATCH', 'POST', 'PATCH']);
    expect(Object.values(written(4))).to.have.length(1);
    expect(Object.values(written(4))[0]).to.include('"failures":2');
    expect(warnings).to.have.length(1);
  });

  it('bounds the unwritten delays during an outage', async () => {
    failures = [new StatusError(403, 'Forbidden', 'no')];
    for (let i = 0; i < 1500; i++) fail(`account${i}`);
    await untilWritten(2);
    expect(Object.keys(written(1))).to.have.length(1000);
  });

  it('removes expired and invalid records with the next write, and those with the fewest failures above 1,000', async () => {
    const [alice = ''] = await keysOf('alice');
    const many = Array.from({ length: 997 }, (_, i) => named(`account-k-${i}`, { failures: 9 }));
    const mild = [named('mild', { lastAt: now - 100 }), named('milder', { lastAt: now - 200 })];
    const over = [named('over', { failures: 0 }), named('old', { lastAt: now - 900_000 })];
    const { response } = await watch.promise;
    const stored = [...mild, ...many, ...over, named(alice, { failures: 9 })];
    send(response, event('ADDED', configMap(1, ...stored)), bookmark(1, true));
    await until(() => delayOf('alice') > 1);
    fail('bob');
    await untilWritten(2);
    const removals = Object.fromEntries(Object.entries(written(1)).filter(([, value]) => value === null));
    expect(removals).to.deep.equal({ over: null, old: null, strange: null, empty: null, milder: null });
  });

  it('merges the delays of other replicas, and ends all when the ConfigMap is deleted, but not when a key is', async () => {
    const [alice = '', bob = ''] = await keysOf('alice', 'bob');
    const others = [alice, bob].map((key) => named(key, { failures: 3 }));
    const { response } = await watch.promise;
    send(response, event('ADDED', configMap(1, ...others)), bookmark(1, true));
    await until(() => delayOf('bob') === 4);
    send(response, event('MODIFIED', configMap(2, named(alice, { failures: 5 }))));
    await until(() => delayOf('alice') === 16);
    expect(delayOf('bob')).to.equal(4);
    send(response, event('DELETED', configMap(3, named(alice))));
    await until(() => delayOf('alice') === 0);
    expect(delayOf('bob')).to.equal(0);
  });
});
