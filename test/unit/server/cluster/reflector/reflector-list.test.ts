// Tests of the lists of a reflector, paged and streaming, against a fake kube-apiserver.
import { expect } from 'chai';
import {
  added,
  complete,
  deleted,
  followingEach,
  listing,
  modified,
  refusing,
  sending,
} from '../../../../support/cluster/followed-script.ts';
import { rawThing } from '../../../../support/cluster/raw-objects.ts';
import { bookmark, type Call, send } from '../../../../support/cluster/scripted-cluster.ts';
import { until } from '../../../../support/until.ts';

/** Sends a streaming list that ends without an error before the initial-events-end bookmark. */
function cut({ response }: Call): void {
  send(response, added('a', 3), bookmark(4));
  response.end();
}

describe('Reflector: list', () => {
  const followed = followingEach();

  it('lists by a streaming list and watches on the same stream', async () => {
    const { sink, cluster, progress } = await followed({
      stream: [
        (call) => {
          complete(call);
          send(call.response, modified('a', 6), bookmark(8), deleted('b', 9));
        },
      ],
    });
    await sink.until('DELETED b@9');
    expect(sink.lines).to.deep.equal(['list@5 a@3 b@2', 'MODIFIED a@6', 'BOOKMARK 8', 'DELETED b@9']);
    expect(progress).to.deep.equal(['5', '6', '8', '9']);
    expect(cluster.kinds).to.deep.equal(['stream']);
    const parameters = Object.fromEntries(cluster.calls[0]?.url.searchParams ?? []);
    expect(parameters).to.deep.include({
      labelSelector: 'a=b',
      watch: 'true',
      sendInitialEvents: 'true',
      resourceVersionMatch: 'NotOlderThan',
      allowWatchBookmarks: 'true',
      timeoutSeconds: '300',
    });
  });

  it('discards a streaming list that ends normally before its last bookmark, and does not resume from it', async () => {
    const { sink, cluster } = await followed({ stream: [cut, complete] });
    await sink.until('list@5 a@3 b@2');
    expect(sink.lines).to.deep.equal(['list@5 a@3 b@2']);
    expect(cluster.kinds).to.deep.equal(['stream', 'stream']);
  });

  for (const code of [400, 405, 422, 501]) {
    it(`falls back to pages at once when the streaming list is rejected with ${code}`, async () => {
      const { sink, cluster, causes } = await followed({
        stream: [refusing(code, 'Invalid')],
        page: [listing(7, [rawThing('a', 3)], 'more'), listing(7, [rawThing('b', 2)])],
        watch: [sending(modified('b', 9))],
      });
      await sink.until('MODIFIED b@9');
      expect(sink.lines).to.deep.equal(['list@7 a@3 b@2', 'MODIFIED b@9']);
      expect(cluster.kinds).to.deep.equal(['stream', 'page', 'page', 'watch']);
      expect(cluster.calls[1]?.url.searchParams.get('limit')).to.equal('500');
      expect(cluster.calls[2]?.url.searchParams.get('continue')).to.equal('more');
      expect(cluster.calls[3]?.url.searchParams.get('resourceVersion')).to.equal('7');
      for (const { url } of cluster.calls) expect(url.searchParams.get('labelSelector')).to.equal('a=b');
      expect(causes).to.deep.equal([]);
    });
  }

  const unusable: Record<string, (call: Call) => void> = {
    'that continues where it began': listing(7, [rawThing('a', 3)], 'more'),
    'without a resourceVersion': ({ response }) =>
      response.writeHead(200).end('{"metadata":{"resourceVersion":""},"items":[]}'),
    'that never begins': () => undefined,
    'that stops in the middle': ({ response }) => response.writeHead(200).write('{"items":['),
    'that ends in the middle': ({ response }) => response.writeHead(200).end('{"items":['),
  };
  for (const [what, second] of Object.entries(unusable)) {
    it(`discards a page ${what} and relists`, async () => {
      const { sink, causes } = await followed(
        {
          stream: [refusing(422, 'Invalid')],
          page: [listing(7, [rawThing('a', 3)], 'more'), second, listing(9, [rawThing('a', 8)])],
        },
        { stallMs: 1_000 },
      );
      await sink.until('list@9 a@8');
      expect(sink.lines).to.deep.equal(['list@9 a@8']);
      expect(causes).to.have.length(1);
    });
  }

  it('returns to pages after a successful single-page list', async () => {
    const { sink, cluster } = await followed({
      stream: [refusing(422, 'Invalid')],
      page: [
        listing(7, [rawThing('a', 3)], 'more'),
        refusing(410, 'Expired'),
        listing(9, [rawThing('a', 8)]),
        listing(12, [rawThing('a', 11)]),
      ],
      watch: [refusing(410, 'Expired'), sending('')],
    });
    await sink.until('list@12 a@11');
    const limits = cluster.calls
      .filter(({ kind }) => kind === 'page')
      .map(({ url }) => url.searchParams.get('limit'));
    expect(limits).to.deep.equal(['500', '500', null, '500']);
  });

  it('discards a streaming list that does not start with ADDED events', async () => {
    const { sink, cluster } = await followed({
      stream: [sending(added('a', 3), deleted('a', 4), bookmark(5, true)), complete],
    });
    await sink.until('list@5 a@3 b@2');
    expect(sink.lines).to.deep.equal(['list@5 a@3 b@2']);
    // The client has closed it.
    await until(() => cluster.calls[0]?.response.closed === true);
  });

  it('does not mistake a busy cluster for one without streaming lists', async () => {
    const busy = refusing(503, 'ServiceUnavailable');
    const { sink, cluster } = await followed({ stream: [busy, busy, busy, busy, complete] });
    await sink.until('list@5 a@3 b@2');
    expect(new Set(cluster.kinds)).to.deep.equal(new Set(['stream']));
  });

  it('tries streaming lists again after pages', async () => {
    const { sink, cluster } = await followed({
      stream: [
        ({ response }) => response.writeHead(200).end(),
        ({ response }) => response.writeHead(200).end(),
        complete,
      ],
      page: [listing(3, [rawThing('a', 3)])],
      watch: [refusing(410, 'Expired')],
    });
    await sink.until('list@5 a@3 b@2');
    expect(cluster.kinds).to.deep.equal(['stream', 'stream', 'page', 'watch', 'stream']);
  });

  it('randomizes the timeouts of its watches', async () => {
    const { sink, cluster } = await followed({ stream: [complete] }, { random: () => 0.5, watchMs: 100_000 });
    await sink.until('list@5 a@3 b@2');
    expect(cluster.calls[0]?.url.searchParams.get('timeoutSeconds')).to.equal('150');
  });
});
