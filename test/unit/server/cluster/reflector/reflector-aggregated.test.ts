// Tests of the reflector of an aggregated API, which can ignore WatchList and have resourceVersions of its own.
import { expect } from 'chai';
import {
  complete,
  followingEach,
  listing,
  modified,
  refusing,
  sending,
} from '../../../../support/cluster/followed-script.ts';
import { rawThing } from '../../../../support/cluster/raw-objects.ts';
import { type Call, event } from '../../../../support/cluster/scripted-cluster.ts';
import { until } from '../../../../support/until.ts';

/** An object with any resourceVersion, or none. */
function versioned(name: string, resourceVersion?: unknown): string {
  return JSON.stringify({ metadata: { name, uid: `uid-${name}`, resourceVersion } });
}

/** Sends a list with any metadata and items. */
const anyList =
  (metadata: unknown, items: unknown) =>
  ({ response }: Call): void => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ kind: 'ThingList', apiVersion: 'v1', metadata, items }));
  };

describe('Reflector of an aggregated API', () => {
  const followed = followingEach();
  const tuning = { pollMs: 5 };

  it('lists pages and watches, without a streaming list', async () => {
    const page = [rawThing('a', 3)];
    const { sink, cluster } = await followed(
      {
        page: [listing(7, page, 'next'), listing(7, [rawThing('b', 2)])],
        watch: [sending(modified('a', 8))],
      },
      tuning,
      { aggregated: true },
    );
    await sink.until('MODIFIED a@8');
    expect(sink.lines).to.deep.equal(['list@7 a@3 b@2', 'MODIFIED a@8']);
    expect(cluster.kinds).to.deep.equal(['page', 'page', 'watch']);
  });

  it('lists again after each watch, because the history of the API is unknown', async () => {
    const { sink, cluster } = await followed(
      {
        page: [listing(7, [rawThing('a', 3)]), listing(9, [rawThing('a', 9)])],
        watch: [({ response }) => response.writeHead(200).end(), sending('')],
      },
      tuning,
      { aggregated: true },
    );
    await sink.until('list@9 a@9');
    expect(cluster.kinds).not.to.include('position');
  });

  for (const [what, metadata, items, line] of [
    ['text', { resourceVersion: 'v-1' }, [{ metadata: { name: 'a', resourceVersion: 'x' } }], 'a@x'],
    ['a fraction', { resourceVersion: '200/201' }, [{ metadata: { name: 'a' } }], 'a@'],
    ['nothing', { resourceVersion: '' }, [{ metadata: { name: 'a' } }], 'a@'],
    ['a number of JSON', { resourceVersion: 7 }, [{ metadata: { name: 'a' } }], 'a@'],
    ['more digits than a revision', { resourceVersion: '9'.repeat(40) }, [{ metadata: { name: 'a' } }], 'a@'],
    ['no metadata', undefined, [{ metadata: { name: 'a' } }], 'a@'],
    ['no items', {}, null, ''],
  ] as const) {
    it(`polls a list whose resourceVersion is ${what}`, async () => {
      const { sink, cluster } = await followed({ page: [anyList(metadata, items)] }, tuning, {
        aggregated: true,
      });
      await sink.until(`list@1 ${line}`.trim());
      await sink.until(`list@2 ${line}`.trim());
      expect(cluster.kinds).not.to.include('watch');
    });
  }

  for (const [what, change] of [
    ['has no resourceVersion', event('ADDED', versioned('b'))],
    ['has a text as its resourceVersion', event('ADDED', versioned('b', 'x'))],
    ['is older than the list', event('ADDED', versioned('b', '2'))],
    ['has the version of the list', event('MODIFIED', versioned('b', '7'))],
  ] as const) {
    it(`polls after an event that ${what}`, async () => {
      const { sink } = await followed(
        { page: [listing(7), listing(7, [rawThing('b', 2)])], watch: [sending(change)] },
        tuning,
        { aggregated: true },
      );
      await sink.until('list@2 b@2');
      expect(sink.lines).to.deep.equal(['list@7', 'list@2 b@2']);
    });
  }

  it('polls without further watches if the API rejects them', async () => {
    const { sink, cluster } = await followed(
      { page: [listing(7), listing(8)], watch: [refusing(405, 'MethodNotAllowed')] },
      tuning,
      { aggregated: true },
    );
    await sink.until('list@3');
    expect(cluster.kinds.filter((kind) => kind === 'watch')).to.have.length(1);
  });

  const html = ({ response }: Call): void => {
    response.writeHead(200, { 'content-type': 'text/html' }).end('<html></html>');
  };
  const redirect = ({ response }: Call): void => {
    response.writeHead(307, { location: '/' }).end();
  };
  for (const [what, watch] of [
    ['is forbidden', refusing(403, 'Forbidden')],
    ['is not found', refusing(404, 'NotFound')],
    ['is expired', refusing(410, 'Expired')],
    ['fails', refusing(500, 'InternalError')],
    ['is redirected', redirect],
    ['is a page of HTML', html],
    ['is a list', listing(7)],
    ['ends in the middle of an event', ({ response }: Call) => response.writeHead(200).end('{"type":')],
    ['has an event without an object', ({ response }: Call) => response.writeHead(200).end('{}\n')],
  ] as const) {
    it(`polls without a warning while each watch ${what}`, async () => {
      const { sink, cluster, log, retries } = await followed(
        { page: [listing(7), listing(8)], watch: [watch] },
        tuning,
        { aggregated: true },
      );
      await sink.until('list@8');
      await until(() => cluster.kinds.filter((kind) => kind === 'watch').length > 1);
      expect(log.filter((line) => line.startsWith('warn'))).to.deep.equal([]);
      expect(retries).to.deep.equal([]);
    });
  }

  it('does not poll without a pause if each watch ends at once', async () => {
    const { sink, cluster } = await followed(
      { page: [listing(7)], watch: [({ response }) => response.writeHead(200).end()] },
      { pollMs: 600_000 },
      { aggregated: true },
    );
    await sink.until('list@7');
    expect(cluster.kinds.filter((kind) => kind === 'page')).to.have.length(1);
  });

  it('ends a list whose continue tokens do not advance', async () => {
    const { sink } = await followed(
      { page: [listing(7, [], 'same'), listing(7, [], 'same'), listing(8)] },
      tuning,
      { aggregated: true },
    );
    await sink.until('list@8');
  });

  it('of kube-apiserver itself never accepts a list without a resourceVersion', async () => {
    const { sink } = await followed({
      stream: [refusing(400, 'BadRequest'), complete],
      page: [anyList({}, [])],
    });
    await sink.until('list@5 a@3 b@2');
    expect(sink.lines).to.deep.equal(['list@5 a@3 b@2']);
  });
});
