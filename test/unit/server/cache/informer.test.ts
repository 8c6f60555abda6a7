// Tests of Informer, a reflector with a cache, against a fake kube-apiserver.
import { expect } from 'chai';
import { pino } from 'pino';
import { Informer, type InformerOptions } from '../../../../server/cache/informer.ts';
import type { ClusterConnection } from '../../../../server/cluster/connection/connection.ts';
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
