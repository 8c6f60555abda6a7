// Tests of the verb watch.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { record } from '../../../../apis/reading/unknown-value.ts';
import { DEFAULT_OPTIONS, resourceHandler } from '../../../../server/rest/resource-handler.ts';
import type { WatchOptions } from '../../../../server/rest/watch.ts';
import type { WatchEnd } from '../../../../server/rest/watch-session.ts';
import { NodeCache, node, nodes } from '../../../support/cluster/node-cache.ts';
import { WatchLines } from '../../../support/cluster/watch-lines.ts';
import { FakeTimers } from '../../../support/fake-timers.ts';
import { HandlerServer } from '../../../support/handler-server.ts';
import { until } from '../../../support/until.ts';

const WATCH = '/apis/resources.platform.io/v1alpha3/nodes?watch=true';

describe('watch', () => {
  let cache: NodeCache;
  let server: HandlerServer;
  const open: WatchLines[] = [];

  async function watch(query = ''): Promise<WatchLines> {
    const lines = new WatchLines(await server.open(WATCH + query));
    open.push(lines);
    return lines;
  }

  async function start(options: Partial<WatchOptions> = {}): Promise<void> {
    await server?.close();
    const all = { ...DEFAULT_OPTIONS, watch: { ...DEFAULT_OPTIONS.watch, ...options } };
    server = await new HandlerServer(resourceHandler(nodes, cache.cache, all)).start();
  }

  beforeEach(async () => {
    cache = new NodeCache();
    cache.fill(10, [node('a', 1, { zone: 'x' }), node('b', 2, { zone: 'y' })]);
    await start();
  });

  afterEach(async () => {
    for (const lines of open.splice(0)) lines.close();
    await server.close();
    expect(server.lastError).to.equal(undefined);
  });

  it('is silent until a future resourceVersion is reached', async () => {
    const lines = await watch('&resourceVersion=20');
    cache.apply('ADDED', node('c', 15));
    cache.apply('ADDED', node('d', 21));
    expect(await lines.names(1)).to.deep.equal(['ADDED d@21']);
  });

  it('sends lines to an HTTP/1.0 client, without chunked coding', async () => {
    const socket = connect(server.port, '127.0.0.1');
    socket.write(`GET ${WATCH}&timeoutSeconds=1 HTTP/1.0\r\n\r\n`);
    await until(() => cache.cache.watchers === 1);
    cache.apply('ADDED', node('c', 11));
    const [, body = ''] = (await text(socket)).split('\r\n\r\n');
    const lines = body.trimEnd().split('\n');
    const names = lines.map((line) => record(record(record(JSON.parse(line))['object'])['metadata'])['name']);
    expect(names).to.deep.equal(['a', 'b', 'c']);
  });

  it('marks the end of empty initial events', async () => {
    const lines = await watch(
      '&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&labelSelector=zone%3Dz',
    );
    expect(await lines.next()).to.have.property('type', 'BOOKMARK');
  });

  it('starts at the current version with sendInitialEvents=false', async () => {
    const lines = await watch('&sendInitialEvents=false&resourceVersionMatch=NotOlderThan');
    cache.apply('ADDED', node('c', 11));
    expect(await lines.names(1)).to.deep.equal(['ADDED c@11']);
  });

  it('sends bookmarks only to clients that allow them, and one shortly before the end', async () => {
    using timers = new FakeTimers(['setTimeout', 'setInterval']);
    await start({ lastBookmarkMs: 500 });
    const silent = await watch('&resourceVersion=10&timeoutSeconds=2');
    const watched = await watch('&resourceVersion=10&timeoutSeconds=2&allowWatchBookmarks=true');
    cache.apply('ADDED', node('c', 11));
    cache.cache.bookmark('50');
    await timers.tick(1_500);
    expect(await watched.names(2)).to.deep.equal(['ADDED c@11', 'BOOKMARK undefined@50']);
    await timers.tick(500);
    expect(await watched.names(1)).to.deep.equal(['end']);
    expect(await silent.names(2)).to.deep.equal(['ADDED c@11', 'end']);
  });

  it('sends bookmarks periodically', async () => {
    await start({ bookmarkIntervalMs: 20 });
    const lines = await watch('&resourceVersion=10&allowWatchBookmarks=true');
    // The bookmark has no annotation k8s.io/initial-events-end, because the watch has no initial events.
    const kind = { kind: 'Node', apiVersion: 'resources.platform.io/v1alpha3' };
    const bookmark = { type: 'BOOKMARK', object: { ...kind, metadata: { resourceVersion: '10' } } };
    expect([await lines.next(), await lines.next()]).to.deep.equal([bookmark, bookmark]);
    cache.cache.bookmark('60');
    let seen = '';
    while (seen !== 'BOOKMARK undefined@60') [seen = ''] = await lines.names(1);
  });

  it('applies the default to a timeout above the maximum', async () => {
    using timers = new FakeTimers();
    await start({ minTimeoutSeconds: 100, maxTimeoutSeconds: 1_000, random: () => 0.5 });
    const long = await watch('&resourceVersion=10&timeoutSeconds=9000000000');
    const allowed = await watch('&resourceVersion=10&timeoutSeconds=1000');
    await timers.tick(149_999);
    expect(cache.cache.watchers).to.equal(2);
    await timers.tick(1);
    expect(await long.next()).to.equal(undefined);
    expect(cache.cache.watchers).to.equal(1);
    await timers.tick(850_000);
    expect(await allowed.next()).to.equal(undefined);
  });

  it('supports timeouts beyond the maximum of a timer', async () => {
    await start({ minTimeoutSeconds: 9_000_000_000, bookmarkIntervalMs: 20 });
    const lines = await watch('&resourceVersion=10&allowWatchBookmarks=true');
    // A longer timer would run after 1 ms.
    expect(await lines.names(1)).to.deep.equal(['BOOKMARK undefined@10']);
    cache.apply('ADDED', node('c', 11));
    let seen = '';
    while (seen !== 'ADDED c@11') [seen = 'end'] = await lines.names(1);
  });

  it('ends at its timeout before its resourceVersion is reached', async () => {
    const { promise, resolve } = Promise.withResolvers<WatchEnd>();
    await start({ observer: { sent: () => undefined, ended: resolve } });
    // A later timer than that of the watch, which has no time left.
    cache.cache.waitUntil = () => once(AbortSignal.timeout(5), 'abort').then(() => undefined);
    const lines = await watch(
      '&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=20&timeoutSeconds=-1',
    );
    expect(await lines.names(1)).to.deep.equal(['end']);
    expect(await promise).to.equal('timeout');
    expect(cache.cache.watchers).to.equal(0);
  });

  it('unsubscribes when its client disconnects', async () => {
    const { promise, resolve } = Promise.withResolvers<WatchEnd>();
    await start({ observer: { sent: () => undefined, ended: resolve } });
    const lines = await watch('&resourceVersion=10');
    expect(cache.cache.watchers).to.equal(1);
    lines.close();
    expect(await promise).to.equal('stopped');
    expect(cache.cache.watchers).to.equal(0);
  });
});

describe('watch with slow clients', () => {
  const filler = 'x'.repeat(20_000);

  /** A cache whose list exceeds the buffers of the sockets. */
  function largeCache(version: number): NodeCache {
    const cache = new NodeCache();
    const many = Array.from({ length: 600 }, (_, i) => node(`n${i}`, 5, {}, { filler }));
    cache.fill(version, many);
    return cache;
  }

  it('shrinks the chunks while more clients do not read', async () => {
    const cache = largeCache(10);
    const sockets = new Set<Socket>();
    const all = Promise.withResolvers<void>();
    let most = 0;
    let ended = 0;
    const observer = {
      sent: (): void => {
        const waiting = [...sockets].reduce((sum, { writableLength }) => sum + writableLength, 0);
        most = Math.max(most, waiting);
      },
      ended: (): void => {
        if (++ended === 40) all.resolve();
      },
    };
    const watch = { ...DEFAULT_OPTIONS.watch, stallTimeoutMs: 200, maxInitialBytes: 1 << 20, observer };
    const handler = resourceHandler(nodes, cache.cache, { ...DEFAULT_OPTIONS, watch });
    await using server = await new HandlerServer((context) => {
      sockets.add(context.request.socket);
      return handler(context);
    }).start();
    for (let reader = 0; reader < 40; reader += 1) {
      const slow = await server.open(WATCH);
      slow.on('error', () => undefined);
    }
    await all.promise;
    expect(most).to.be.lessThan(4 << 20);
  });

  it('returns 410 after initial events when etcd was restored from a backup meanwhile', async () => {
    const cache = largeCache(100);
    await using server = await new HandlerServer(resourceHandler(nodes, cache.cache)).start();
    const lines = new WatchLines(await server.open(WATCH));
    expect(await lines.names(1)).to.deep.equal(['ADDED n0@5']);
    cache.fill(50, [node('other', 40)]);
    cache.cache.bookmark('120');
    let last = await lines.next();
    for (let next = last; next; next = await lines.next()) last = next;
    expect(last?.type).to.equal('ERROR');
    expect(last?.object).to.include({ code: 410, reason: 'Expired' });
  });

  it('sends changes that occurred during the initial events', async () => {
    const cache = largeCache(100);
    await using server = await new HandlerServer(resourceHandler(nodes, cache.cache)).start();
    const lines = new WatchLines(await server.open(WATCH));
    await lines.names(1);
    cache.apply('ADDED', node('late', 101));
    expect((await lines.names(600)).at(-1)).to.equal('ADDED late@101');
    lines.close();
  });
});
