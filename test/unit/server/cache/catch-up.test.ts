import { once } from 'node:events';
import { expect } from 'chai';
import { catchUp } from '../../../../server/cache/catch-up.ts';
import type { ClusterConnection } from '../../../../server/cluster/connection/connection.ts';
import { eventMetadata } from '../../../../server/cluster/following/object-metadata.ts';
import { rawThing } from '../../../support/cluster/raw-objects.ts';
import {
  bookmark,
  type Call,
  event,
  list,
  refuse,
  ScriptedCluster,
  send,
} from '../../../support/cluster/scripted-cluster.ts';

describe('what brings a cache to a resourceVersion of another kind of object', () => {
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
    cluster = await ScriptedCluster.start((call) => (call.asked === 'watch' ? watch(call) : position(call)));
    client = cluster.connect();
  }

  const reached = ({ response }: Call): void => list(response, 20);
  const ask = (signal = new AbortController().signal): Promise<void> =>
    catchUp({ client, path: '/api/v1/things', query: { labelSelector: 'a=b' }, sink }, '10', 20n, signal);

  afterEach(async () => {
    client.close();
    await cluster.stop();
  });

  it('makes the cluster itself get there, then takes what was missed from where the cache is', async () => {
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

  it('asks both on one connection, for the first answer is read to its end', async () => {
    await start(({ response }) => send(response, bookmark(20)));
    await ask();
    const [position, watch] = cluster.calls.map(({ request }) => request.socket);
    expect(watch === position).to.equal(true);
  });

  it('goes on past what is before it, and ends at it without waiting for more', async () => {
    await start(({ response }) => send(response, bookmark(19), event('DELETED', rawThing('b', 20))));
    await ask();
    expect(taken).to.deep.equal(['BOOKMARK 19', 'DELETED b@20']);
    const { response } = cluster.calls[1] ?? {};
    if (response && !response.closed) await once(response, 'close');
  });

  it('claims nothing when the stream ends before it', async () => {
    await start(({ response }) => {
      send(response, event('ADDED', rawThing('c', 15)));
      response.end();
    });
    await ask();
    expect(taken).to.deep.equal(['ADDED c@15']);
  });

  it('does not watch for what the cluster does not have', async () => {
    await start(
      ({ response }) => send(response, bookmark(20)),
      ({ response }) => refuse(response, 504, 'Timeout'),
    );
    const error: unknown = await ask().catch((thrown: unknown) => thrown);
    expect(error).to.have.property('code', 504);
    expect(cluster.asked).to.deep.equal(['position']);
  });

  it('takes nothing more once nobody waits', async () => {
    const end = new AbortController();
    await start(({ response }) =>
      send(response, event('ADDED', rawThing('c', 15)), event('ADDED', rawThing('d', 16))),
    );
    sinkOnce(() => end.abort(new Error('nobody waits')));
    await ask(end.signal).catch(() => undefined);
    expect(taken).to.deep.equal(['ADDED c@15']);
  });

  /** Calls `then` when the sink has taken something. */
  function sinkOnce(then: () => void): void {
    const { apply } = sink;
    sink.apply = (type, object) => {
      sink.apply = apply;
      apply(type, object);
      then();
    };
  }
});
