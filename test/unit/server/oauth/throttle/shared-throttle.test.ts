// Tests of the login throttle that replicas share through a ConfigMap.
import { expect } from 'chai';
import { StatusError } from '../../../../../apis/meta/v1/errors.ts';
import { record, texts } from '../../../../../apis/reading/unknown-value.ts';
import type { ClusterClient, ClusterRequest } from '../../../../../server/cluster/connection/client.ts';
import type { ThrottleRecord } from '../../../../../server/oauth/throttle/login-throttle.ts';
import {
  decodeRecord,
  encodeRecord,
  SharedRecords,
  type SharedRecordsOptions,
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

type SentRequest = Omit<ClusterRequest, 'signal'> & { readonly json?: unknown };

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
    expect(decodeRecord(RECORD.key, value.replace('"failures":5', '"failures":50'), keys)).to.equal(
      undefined,
    );
    for (const junk of ['', ' ', '{}', 'x {}', value.slice(0, -1)]) {
      expect(decodeRecord(RECORD.key, junk, keys)).to.equal(undefined);
    }
  });
});

describe('shared throttle records', () => {
  /** A fake cluster that responds to writes. Its watch of the ConfigMap never responds. */
  class Writes {
    readonly requests: SentRequest[] = [];
    answers: (Error | undefined)[] = [];
    /** Runs during the first request. */
    requestSent: () => void = () => undefined;

    open({ signal }: ClusterRequest): Promise<never> {
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(new Error('stopped')), { once: true });
      });
    }

    async json({
      signal: _signal,
      ...request
    }: SentRequest & Pick<ClusterRequest, 'signal'>): Promise<unknown> {
      this.requests.push(request);
      if (this.requests.length === 1) this.requestSent();
      const failure = this.answers.shift();
      if (failure) throw failure;
      return {};
    }

    until(count: number): Promise<void> {
      return until(() => this.requests.length >= count);
    }
  }

  async function scene({
    open,
    ...options
  }: Partial<SharedRecordsOptions> & Partial<Pick<ClusterClient, 'open'>> = {}) {
    const writes = new Writes();
    const warnings: unknown[] = [];
    const shared = new SharedRecords({
      client: { open: open ?? ((request) => writes.open(request)), json: (request) => writes.json(request) },
      namespace: 'ns',
      name: 'state',
      macs: await memoryKeyRing(),
      merge: () => undefined,
      clear: () => undefined,
      lifetimeMs: 60_000,
      log: { debug: () => undefined, info: () => undefined, warn: (line: unknown) => warnings.push(line) },
      pauseMs: 1,
      now: () => 2000,
      ...options,
    });
    return { writes, warnings, shared, ...running((end) => shared.run(end)) };
  }

  it('are written in batches, as separate keys of the ConfigMap', async () => {
    await using started = await scene();
    const { writes, shared } = started;
    shared.save(RECORD);
    await writes.until(1);
    expect(writes.requests[0]).to.deep.include({
      method: 'PATCH',
      path: '/api/v1/namespaces/ns/configmaps/state',
      headers: { 'content-type': 'application/merge-patch+json' },
    });
    expect(writes.requests[0]?.json).to.have.nested.property('data.account-k-abc');
    for (const key of ['account-k-b', 'account-k-c']) shared.save({ ...RECORD, key });
    await writes.until(2);
    expect(writes.requests[1]?.json).to.have.property('data').that.has.all.keys('account-k-b', 'account-k-c');
  });

  it('create a missing ConfigMap, and patch it when another replica has created it', async () => {
    await using started = await scene();
    const { writes, shared } = started;
    writes.answers = [
      new StatusError(404, 'NotFound', 'not found'),
      new StatusError(409, 'AlreadyExists', 'already exists'),
    ];
    shared.save(RECORD);
    await writes.until(3);
    expect(writes.requests.map(({ method }) => method)).to.deep.equal(['PATCH', 'POST', 'PATCH']);
    expect(writes.requests[1]?.path).to.equal('/api/v1/namespaces/ns/configmaps');
    expect(writes.requests[1]?.json).to.deep.include({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'state', namespace: 'ns' },
    });
  });

  it('are retried with the latest state, and one warning for the same error', async () => {
    await using started = await scene();
    const { writes, shared, warnings } = started;
    const unavailable = (): StatusError => new StatusError(503, 'ServiceUnavailable', 'away');
    writes.answers = [
      unavailable(),
      unavailable(),
      new StatusError(404, 'NotFound', 'not found'),
      unavailable(),
    ];
    writes.requestSent = () => shared.save({ ...RECORD, failures: 6 });
    shared.save(RECORD);
    await writes.until(5);
    expect(writes.requests.map(({ method }) => method)).to.deep.equal([
      'PATCH',
      'PATCH',
      'PATCH',
      'POST',
      'PATCH',
    ]);
    expect(writes.requests[4]?.json)
      .to.have.nested.property(`data.${RECORD.key}`)
      .that.includes('"failures":6');
    expect(warnings).to.have.length(1);
  });

  it('share the end of a delay only if the delay was shared', async () => {
    await using started = await scene();
    const { writes, shared } = started;
    shared.save({ ...RECORD, key: 'account-k-unheard-of', failures: 0 });
    shared.save(RECORD);
    await writes.until(1);
    shared.save({ ...RECORD, failures: 0 });
    await writes.until(2);
    expect(writes.requests[0]?.json).to.have.property('data').that.has.all.keys(RECORD.key);
    expect(writes.requests[1]?.json)
      .to.have.nested.property(`data.${RECORD.key}`)
      .that.includes('"failures":0');
  });

  it('wait in a bounded queue during an outage', async () => {
    await using started = await scene();
    const { writes, shared } = started;
    writes.answers = [new StatusError(403, 'Forbidden', 'no')];
    for (let i = 0; i < 1500; i++) shared.save({ ...RECORD, key: `account-k-${i}` });
    await writes.until(2);
    const written = texts(record(writes.requests[1]?.json)['data']);
    expect(Object.keys(written)).to.have.length(1000).and.to.include('account-k-1499');
  });

  it('are removed with the next write when expired or invalid, and when there are too many', async () => {
    const keys = await memoryKeyRing();
    const named = (key: string, changes: Partial<ThrottleRecord> = {}) => ({ ...RECORD, key, ...changes });
    const many = Array.from({ length: 998 }, (_, i) => named(`account-k-${i}`, { failures: 9 }));
    const mild = [named('mild', { lastAt: 1500 }), named('milder', { lastAt: 1400 })];
    const over = [named('over', { failures: 0 }), named('old', { lastAt: 2000 - 60_000 })];
    const records = [...mild, ...many, ...over, named('again')];
    const data = Object.fromEntries(records.map((kept) => [kept.key, encodeRecord(kept, keys)]));
    const metadata = { namespace: 'ns', name: 'state', uid: 'u', resourceVersion: '1' };
    const configMap = { kind: 'ConfigMap', metadata, data: { ...data, strange: 'what' } };
    await using cluster = await ScriptedCluster.start(({ kind, response }) => {
      if (kind !== 'stream') return;
      send(response, event('ADDED', JSON.stringify(configMap)), bookmark(1, true));
    });
    const client = cluster.connect();
    const merged = Promise.withResolvers<void>();
    await using started = await scene({
      open: (request) => client.open(request),
      macs: keys,
      merge: ({ key }) => {
        if (key === 'again') merged.resolve();
      },
    });
    const { writes, shared } = started;
    await merged.promise;
    shared.save(named('again', { failures: 6 }));
    await writes.until(1);
    const written = record(record(writes.requests[0]?.json)['data']);
    const removed = Object.keys(written).filter((key) => written[key] === null);
    expect(removed).to.have.members(['over', 'old', 'strange', 'milder']);
    expect(written).to.have.property('again').that.includes('"failures":6');
  });

  it('end all delays when the ConfigMap is deleted, but not when a key is deleted', async () => {
    const keys = await memoryKeyRing();
    const other = { ...RECORD, key: 'account-k-other' };
    const configMap = (resourceVersion: number, ...records: readonly ThrottleRecord[]): string =>
      JSON.stringify({
        kind: 'ConfigMap',
        metadata: { namespace: 'ns', name: 'state', uid: 'u', resourceVersion: String(resourceVersion) },
        data: Object.fromEntries(records.map((record) => [record.key, encodeRecord(record, keys)])),
      });
    const connected = Promise.withResolvers<Call>();
    await using cluster = await ScriptedCluster.start((call) => {
      if (call.kind === 'stream') connected.resolve(call);
    });
    const events: string[] = [];
    const forgiven = Promise.withResolvers<void>();
    const client = cluster.connect();
    await using _started = await scene({
      open: (request) => client.open(request),
      macs: keys,
      merge: ({ key }) => events.push(key),
      clear: () => {
        events.push('cleared');
        forgiven.resolve();
      },
    });
    const { response } = await connected.promise;
    send(response, event('ADDED', configMap(1, RECORD, other)), bookmark(1, true));
    send(response, event('MODIFIED', configMap(2, RECORD)));
    send(response, event('DELETED', configMap(3, RECORD)));
    await forgiven.promise;
    expect(events).to.deep.equal([RECORD.key, other.key, 'cleared']);
  });
});
