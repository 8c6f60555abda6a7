// Tests of the login throttle that replicas share through a ConfigMap.
import { expect } from 'chai';
import { StatusError } from '../../../../../apis/meta/v1/errors.ts';
import { recordIn } from '../../../../../apis/reading/unknown-value.ts';
import type { ClusterRequest } from '../../../../../server/cluster/connection/client.ts';
import type { KeyRing } from '../../../../../server/oauth/keys/key-ring.ts';
import type { ThrottleRecord } from '../../../../../server/oauth/throttle/login-throttle.ts';
import {
  decodeRecord,
  encodeRecord,
  SharedRecords,
} from '../../../../../server/oauth/throttle/shared-throttle.ts';
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

describe('a throttle record', () => {
  it('is decoded as it was encoded', async () => {
    const keys = await memoryKeyRing();
    expect(decodeRecord(RECORD.key, encodeRecord(RECORD, keys), keys)).to.deep.equal(RECORD);
  });

  it('is invalid when it was forged, changed or moved to another key', async () => {
    const [keys, others] = [await memoryKeyRing(), await memoryKeyRing()];
    const value = encodeRecord(RECORD, keys);
    expect(decodeRecord(RECORD.key, value, others)).to.equal(undefined);
    expect(decodeRecord('account-k-xyz', value, keys)).to.equal(undefined);
    const changed = value.replace('"failures":5', '"failures":50');
    for (const junk of ['', ' ', '{}', 'x {}', value.slice(0, -1), changed]) {
      expect(decodeRecord(RECORD.key, junk, keys)).to.equal(undefined);
    }
  });
});

describe('shared throttle records', () => {
  let keys: KeyRing;
  let cluster: ScriptedCluster;
  /** The watch of the ConfigMap. */
  let watch: PromiseWithResolvers<Call>;
  let requests: (ClusterRequest & { readonly json?: unknown })[];
  /** Called during each write. */
  let requested: () => void;
  /** Errors of the next writes. */
  let failures: Error[];
  let warnings: unknown[];
  /** Keys of merged records, and `cleared`. */
  let events: string[];
  let shared: SharedRecords;
  let run: AsyncDisposable;

  beforeEach(async () => {
    keys = await memoryKeyRing();
    watch = Promise.withResolvers();
    cluster = await ScriptedCluster.start((call) => {
      if (call.kind === 'stream') watch.resolve(call);
    });
    requests = [];
    requested = () => undefined;
    failures = [];
    warnings = [];
    events = [];
    const client = cluster.connect();
    shared = new SharedRecords({
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
      name: 'state',
      macs: keys,
      merge: ({ key }) => events.push(key),
      clear: () => events.push('cleared'),
      lifetimeMs: 60_000,
      log: { debug: () => undefined, info: () => undefined, warn: (line: unknown) => warnings.push(line) },
      pauseMs: 1,
      now: () => 2000,
    });
    run = running((end) => shared.run(end));
  });
  afterEach(async () => {
    await run[Symbol.asyncDispose]();
    await cluster[Symbol.asyncDispose]();
  });

  const untilWritten = (count: number): Promise<void> => until(() => requests.length >= count);
  const methods = (): unknown[] => requests.map(({ method }) => method);
  /** `data` of the written ConfigMap, in this request. */
  const written = (index: number): Readonly<Record<string, unknown>> =>
    recordIn(requests[index]?.json, 'data');

  const encoded = (...records: readonly ThrottleRecord[]): Record<string, string> =>
    Object.fromEntries(records.map((record) => [record.key, encodeRecord(record, keys)]));
  const configMap = (version: number, data: Readonly<Record<string, string>>): string => {
    const metadata = { namespace: 'ns', name: 'state', uid: 'u', resourceVersion: String(version) };
    return JSON.stringify({ kind: 'ConfigMap', metadata, data });
  };

  it('are written in batches, as separate keys of the ConfigMap', async () => {
    shared.save(RECORD);
    await untilWritten(1);
    expect(requests[0]).to.deep.include({
      method: 'PATCH',
      path: '/api/v1/namespaces/ns/configmaps/state',
      headers: { 'content-type': 'application/merge-patch+json' },
    });
    expect(written(0)).to.have.all.keys('account-k-abc');
    for (const key of ['account-k-b', 'account-k-c']) shared.save({ ...RECORD, key });
    await untilWritten(2);
    expect(written(1)).to.have.all.keys('account-k-b', 'account-k-c');
  });

  it('create a missing ConfigMap, and patch it when another replica has created it', async () => {
    failures = [MISSING, new StatusError(409, 'AlreadyExists', 'already exists')];
    shared.save(RECORD);
    await untilWritten(3);
    expect(methods()).to.deep.equal(['PATCH', 'POST', 'PATCH']);
    expect(requests[1]?.path).to.equal('/api/v1/namespaces/ns/configmaps');
    expect(requests[1]?.json).to.deep.include({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'state', namespace: 'ns' },
    });
  });

  it('are retried with the latest state, and one warning for the same error', async () => {
    const unavailable = new StatusError(503, 'ServiceUnavailable', 'away');
    failures = [unavailable, unavailable, MISSING, unavailable];
    requested = () => {
      if (requests.length === 1) shared.save({ ...RECORD, failures: 6 });
    };
    shared.save(RECORD);
    await untilWritten(5);
    expect(methods()).to.deep.equal(['PATCH', 'PATCH', 'PATCH', 'POST', 'PATCH']);
    expect(written(4)[RECORD.key]).to.include('"failures":6');
    expect(warnings).to.have.length(1);
  });

  it('share the end of a delay only if the delay was shared', async () => {
    shared.save({ ...RECORD, key: 'account-k-unheard-of', failures: 0 });
    shared.save(RECORD);
    await untilWritten(1);
    shared.save({ ...RECORD, failures: 0 });
    await untilWritten(2);
    expect(written(0)).to.have.all.keys(RECORD.key);
    expect(written(1)[RECORD.key]).to.include('"failures":0');
  });

  it('wait in a bounded queue during an outage', async () => {
    failures = [new StatusError(403, 'Forbidden', 'no')];
    for (let i = 0; i < 1500; i++) shared.save({ ...RECORD, key: `account-k-${i}` });
    await untilWritten(2);
    expect(Object.keys(written(1)))
      .to.have.length(1000)
      .and.to.include('account-k-1499');
  });

  it('are removed with the next write when expired or invalid, and when there are too many', async () => {
    const named = (key: string, changes: Partial<ThrottleRecord> = {}) => ({ ...RECORD, key, ...changes });
    const many = Array.from({ length: 998 }, (_, i) => named(`account-k-${i}`, { failures: 9 }));
    const mild = [named('mild', { lastAt: 1500 }), named('milder', { lastAt: 1400 })];
    const over = [named('over', { failures: 0 }), named('old', { lastAt: 2000 - 60_000 })];
    const data = { ...encoded(...mild, ...many, ...over, named('again')), strange: 'what' };
    const { response } = await watch.promise;
    send(response, event('ADDED', configMap(1, data)), bookmark(1, true));
    await until(() => events.includes('again'));
    shared.save(named('again', { failures: 6 }));
    await untilWritten(1);
    const { again, ...others } = written(0);
    expect(again).to.include('"failures":6');
    expect(others).to.deep.equal({ over: null, old: null, strange: null, milder: null });
  });

  it('end all delays when the ConfigMap is deleted, but not when a key is deleted', async () => {
    const other = { ...RECORD, key: 'account-k-other' };
    const { response } = await watch.promise;
    send(response, event('ADDED', configMap(1, encoded(RECORD, other))), bookmark(1, true));
    send(response, event('MODIFIED', configMap(2, encoded(RECORD))));
    send(response, event('DELETED', configMap(3, encoded(RECORD))));
    await until(() => events.includes('cleared'));
    expect(events).to.deep.equal([RECORD.key, other.key, 'cleared']);
  });
});
