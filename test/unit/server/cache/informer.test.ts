// Tests of Informer, a reflector with a cache, against a fake kube-apiserver.
import { expect } from 'chai';
import { pino } from 'pino';
import { catchUp, Informer, type InformerOptions } from '../../../../server/cache/informer.ts';
import type { ClusterConnection } from '../../../../server/cluster/connection/connection.ts';
import { eventMetadata } from '../../../../server/cluster/reflector/watch-stream.ts';
import { complete } from '../../../support/cluster/followed-script.ts';
import { rawThing, THINGS } from '../../../support/cluster/raw-objects.ts';
import {
  bookmark,
  type Call,
  event,
  list,
  ScriptedCluster,
  send,
  status,
} from '../../../support/cluster/scripted-cluster.ts';
import { until } from '../../../support/until.ts';

type Facts = { readonly size: number };

describe('Informer', () => {
  let cluster: ScriptedCluster;
  let client: ClusterConnection;
  let informer: Informer<Facts>;
  let running: Promise<void>;
  let end: AbortController;

  async function start(
    answer: (call: Call) => void,
    options: Partial<InformerOptions<Facts>> = {},
  ): Promise<void> {
    cluster = await ScriptedCluster.start(answer);
    client = cluster.connect();
    informer = new Informer({
      definition: THINGS,
      client,
      log: pino({ enabled: false }),
      query: { labelSelector: 'a=b' },
      reflector: { initialBackoffMs: 2, maxBackoffMs: 20 },
      ...options,
    });
    end = new AbortController();
    running = informer.run(end.signal);
    await until(() => informer.cache.synced);
  }

  afterEach(async () => {
    end.abort();
    await running;
    client.close();
    await cluster.stop();
  });

  const watches = (): Call[] => cluster.calls.filter(({ kind }) => kind === 'watch');

  it('discards a probe from before a relist, because it may belong to a different history', async () => {
    let streams = 0;
    await start(
      (call) => {
        if (call.kind === 'position') list(call.response, 9);
        else if (call.kind === 'watch') send(call.response, '');
        else if (++streams === 1) complete(call);
        else send(call.response, event('ADDED', rawThing('a', 2)), bookmark(3, true));
      },
      { waitMs: 10_000 },
    );
    const waited = informer.cache.waitUntil('9', end.signal).catch((error: unknown) => error);
    await until(() => watches().length === 1);
    const [listing] = cluster.calls;
    if (listing) send(listing.response, event('ERROR', status(410, 'Expired')));
    await until(() => informer.cache.currentResourceVersion === '3');
    const [before] = watches();
    if (before) send(before.response, event('MODIFIED', rawThing('a', 8)), bookmark(9));
    // Waiting reads probe again, from the current version.
    await until(() => watches().length === 2);
    expect(watches()[1]?.url.searchParams.get('resourceVersion')).to.equal('3');
    expect(informer.cache.snapshot().get('a')?.resourceVersion).to.equal('2');
    end.abort(new Error('enough'));
    expect(await waited).to.have.property('message', 'enough');
  });

  it('keeps events and past snapshots within its limits', async () => {
    await start(
      (call) => {
        complete(call);
        for (const version of [6, 7, 8]) send(call.response, event('MODIFIED', rawThing('a', version)));
      },
      { window: { events: 2 }, history: { snapshots: 1 } },
    );
    await until(() => informer.cache.currentResourceVersion === '8');
    const watcher = { event: () => undefined, bookmark: () => undefined, end: () => undefined };
    expect(() => informer.cache.watch('5', watcher)).to.throw('too old');
    informer.cache.watch('6', watcher)();
    expect(() => informer.cache.snapshotAt('6')).to.throw('no longer available');
    expect(informer.cache.snapshotAt('7').resourceVersion).to.equal('7');
  });
});

describe('catchUp', () => {
  let cluster: ScriptedCluster;
  let client: ClusterConnection;
  const taken: string[] = [];
  const sink = {
    apply: (type: string, object: Buffer): void => {
      taken.push(`${type} ${eventMetadata(object).name}@${eventMetadata(object).resourceVersion}`);
    },
    bookmark: (resourceVersion: string): void => {
      taken.push(`BOOKMARK ${resourceVersion}`);
    },
  };

  async function start(watch: (call: Call) => void, position = reached): Promise<void> {
    taken.length = 0;
    cluster = await ScriptedCluster.start((call) => (call.kind === 'watch' ? watch(call) : position(call)));
    client = cluster.connect();
  }

  const reached = ({ response }: Call): void => list(response, 20);
  const ask = (signal = new AbortController().signal): Promise<void> =>
    catchUp({ client, path: '/api/v1/things', query: { labelSelector: 'a=b' }, sink }, '10', 20n, signal);

  afterEach(async () => {
    client.close();
    await cluster.stop();
  });

  it("makes the cluster reach the target, then watches from the cache's resourceVersion", async () => {
    await start(({ response }) => send(response, event('MODIFIED', rawThing('a', 15)), bookmark(20)));
    await ask();
    expect(taken).to.deep.equal(['MODIFIED a@15', 'BOOKMARK 20']);
    expect(cluster.calls.map(({ url }) => Object.fromEntries(url.searchParams))).to.deep.equal([
      { labelSelector: 'a=b', limit: '1', resourceVersion: '20', resourceVersionMatch: 'NotOlderThan' },
      {
        labelSelector: 'a=b',
        resourceVersion: '10',
        timeoutSeconds: '3',
        watch: 'true',
        allowWatchBookmarks: 'true',
      },
    ]);
    expect(cluster.calls[0]?.request.headers.accept).to.include('as=PartialObjectMetadataList');
  });

  it('does not advance the cache when the stream ends before the target', async () => {
    await start(({ response }) => {
      send(response, event('ADDED', rawThing('c', 15)));
      response.end();
    });
    await ask();
    expect(taken).to.deep.equal(['ADDED c@15']);
  });
});
