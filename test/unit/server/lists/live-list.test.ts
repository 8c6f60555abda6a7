// Tests of live lists, without a cluster.
import type { IncomingMessage } from 'node:http';
import { expect } from 'chai';
import { newServiceUnavailable } from '../../../../apis/meta/v1/errors.ts';
import { Seats } from '../../../../server/admission/seats.ts';
import { PODS } from '../../../../server/resources/kind.ts';
import { HandlerServer } from '../../../support/handler-server.ts';
import { ObservedSlicer } from '../../../support/observed-slicer.ts';
import { KindCache, plain, WIDGETS } from '../../../support/platform/kind-cache.ts';
import { LiveEvents } from '../../../support/platform/live-events.ts';
import {
  PLATFORM_PATH,
  type PlatformOptions,
  platformLists,
} from '../../../support/platform/platform-lists.ts';
import { until } from '../../../support/until.ts';

const EVENTS = { accept: 'text/event-stream' };
/** The caller of all requests to a HandlerServer. */
const CALLER = 'test';

describe('live lists', () => {
  let pods: KindCache;
  let readable: ReadonlySet<string>;
  let server: HandlerServer;
  let open: IncomingMessage[];

  async function serve(live: PlatformOptions['live'] = { intervalMs: 1 }): Promise<void> {
    const handler = platformLists(() => [pods.lists], {
      live,
      namespaces: ['bank', 'shop'],
      allowed: ({ namespace }) => readable.has(namespace),
    });
    server = await new HandlerServer(handler).start();
  }

  async function follow(path: string, headers: Readonly<Record<string, string>> = {}): Promise<LiveEvents> {
    const incoming = await server.open(`${PLATFORM_PATH}/${path}`, { headers: { ...EVENTS, ...headers } });
    open.push(incoming);
    incoming.on('error', () => undefined);
    return new LiveEvents(incoming);
  }

  beforeEach(() => {
    pods = new KindCache(PODS).fill(2, [plain('shop/a', 1), plain('bank/b', 2)]);
    readable = new Set(['', 'shop', 'bank']);
    open = [];
  });

  it('are computed once for equal queries of the same scope', async () => {
    const seats = new Seats({ capacity: 1, sharing: 'queue', refusal: () => new Error('not refused') });
    await serve({ intervalMs: 1, seats });
    const sorted: string[] = [];
    const { index } = pods;
    const original = index.sorted.bind(index);
    index.sorted = (current, sorting, task) => {
      sorted.push(sorting.filter.key);
      return original(current, sorting, task);
    };
    const equal = await Promise.all(Array.from({ length: 20 }, () => follow('pods?name=a')));
    const other = await follow('pods?name=b');
    await Promise.all([...equal, other].map((events) => events.next()));
    sorted.splice(0);
    pods.apply('MODIFIED', plain('shop/a', 9));
    await Promise.all(equal.map((events) => events.next()));
    await until(() => new Set(sorted).size === 2);
    await until(() => seats.held + seats.waiting === 0);
    expect(sorted).to.have.length(2);
  });

  afterEach(async () => {
    for (const incoming of open) incoming.destroy();
    await server.close();
  });

  it('share the bytes of a page, which are cached only if they are few', async () => {
    await serve();
    await Promise.all([(await follow('pods')).next(), (await follow('pods?limit=10')).next()]);
    const bytes = pods.bodies.calculatedSize;
    expect(bytes).to.be.within(200, 1_000);
    // Small buffers of Node.js keep the rest of a pool in memory.
    for (const body of pods.bodies.values()) expect(body.buffer.byteLength - body.length).to.be.at.most(64);
    const text = 'x'.repeat(50_000);
    pods.fill(9, [plain('shop/a', 7, {}, { text }), plain('shop/b', 8, {}, { text: text.repeat(2) })]);
    const events = await follow('pods');
    expect((await events.next())?.data).to.have.property('totalItems', 2);
    expect(pods.bodies.calculatedSize).to.equal(bytes);
  });

  it('send a long page in time slices of their caller', async () => {
    const slicer = new ObservedSlicer();
    pods = new KindCache(PODS, slicer);
    const text = 'x'.repeat(10_000);
    const objects = Array.from({ length: 300 }, (_, i) => plain(`shop/${1000 + i}`, i + 1, {}, { text }));
    pods.fill(300, objects);
    await serve();
    const short = await follow('pods?limit=1');
    await short.next();
    slicer.callers.splice(0);
    const long = await follow('pods');
    expect((await long.next())?.data).to.have.property('totalItems', 300);
    // The body has 3 MB, in parts of at most 138 KB.
    // The computation of the page, which all its readers share, takes few other slices.
    const [own, shared] = [true, false].map((mine) =>
      slicer.callers.filter((caller) => (caller === CALLER) === mine),
    );
    expect(own).to.have.length.above(20);
    expect(shared).to.have.length.below(5);
  });

  /** Returns a function for the text that the server has sent so far, after the first event. */
  async function followText(path: string): Promise<() => string> {
    const incoming = await server.open(`${PLATFORM_PATH}/${path}`, { headers: EVENTS });
    open.push(incoming);
    let text = '';
    incoming.on('error', () => undefined).setEncoding('utf8');
    incoming.on('data', (part: string) => {
      text += part;
    });
    await until(() => text.includes('\n\n'));
    return () => text;
  }

  it('send nothing for changes of other objects, not even a heartbeat', async () => {
    await serve({ intervalMs: 1, heartbeatMs: 60_000 });
    let computed = 0;
    const livePage = pods.lists.livePage.bind(pods.lists);
    pods.lists.livePage = (...list) => {
      computed++;
      return livePage(...list);
    };
    const text = await followText('namespaces/shop/pods');
    for (const [i, name] of ['bank/c', 'bank/d'].entries()) {
      pods.apply('ADDED', plain(name, i + 3));
      await until(() => computed === i + 2);
    }
    pods.apply('ADDED', plain('shop/e', 5));
    await until(() => text().includes('"totalItems":2'));
    expect(text()).not.to.match(/^:/m);
  });

  it('send heartbeats without a change, also while other objects change', async () => {
    await serve({ intervalMs: 1, heartbeatMs: 5 });
    const text = await followText('namespaces/shop/pods');
    await until(() => /^:/m.test(text()));
    const before = text().length;
    pods.apply('ADDED', plain('bank/c', 3));
    await until(() => text().length > before);
    expect(text().match(/^event:/gm)).to.have.length(1);
  });

  it('continue after Last-Event-ID without a repeated page', async () => {
    await serve();
    const first = await (await follow('pods')).next();
    const again = await follow('pods', { 'last-event-id': first?.id ?? '' });
    pods.apply('ADDED', plain('shop/c', 3));
    expect((await again.next())?.data).to.deep.include({ totalItems: 3 });
    const missed = await follow('pods', { 'last-event-id': first?.id ?? '' });
    expect((await missed.next())?.data).to.deep.include({ totalItems: 3 });
  });

  it('report an unavailable kind, and hide other errors', async () => {
    await serve({ intervalMs: 1, heartbeatMs: 5 });
    for (const [error, data] of [
      [newServiceUnavailable('too large', 1), { code: 503, message: 'too large' }],
      [new Error('secret'), { code: 500, message: 'the live list failed' }],
    ] as const) {
      pods = new KindCache(PODS).fill(1, [plain('shop/a', 1)]);
      const events = await follow('pods');
      await events.next();
      pods.lists.livePage = () => Promise.reject(error);
      pods.apply('ADDED', plain(`shop/${error.message}`, 3));
      expect(await events.next()).to.deep.include({ event: 'failure', data });
      expect(await events.next().catch(() => undefined)).to.equal(undefined);
    }
    expect(server.lastError).to.be.instanceOf(Error).with.property('message', 'secret');
  });

  it('do not continue with a kind of another group, for which the caller may have no permission', async () => {
    const [own, other] = ['a.example.com', 'b.example.com'].map((group) =>
      new KindCache({ ...WIDGETS, group }).fill(1, [plain('shop/w', 1)]),
    );
    let served = own;
    const handler = platformLists(() => (served ? [served.lists] : []), {
      live: { intervalMs: 1, heartbeatMs: 5 },
      allowed: ({ group }) => group === 'a.example.com',
    });
    server = await new HandlerServer(handler).start();
    const events = await follow('widgets');
    expect((await events.next())?.data).to.deep.include({ apiVersion: 'a.example.com/v1', totalItems: 1 });
    served = other;
    expect(await events.next()).to.have.property('event', 'failure');
    expect(await events.next()).to.equal(undefined);
  });

  it('end when the server stops, and unsubscribe when the client disconnects', async () => {
    await serve();
    let subscriptions = 0;
    const onChange = pods.lists.onChange.bind(pods.lists);
    pods.lists.onChange = (changed) => {
      subscriptions++;
      const unsubscribe = onChange(changed);
      return () => {
        subscriptions--;
        unsubscribe();
      };
    };
    const [left, other] = [await follow('pods'), await follow('pods')];
    await Promise.all([left.next(), other.next()]);
    expect(subscriptions).to.equal(2);
    left.close();
    await until(() => subscriptions === 1);
    server.abort();
    expect(await other.next()).to.equal(undefined);
    expect(subscriptions).to.equal(0);
  });
});
