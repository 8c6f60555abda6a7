// Tests of WatchSession, which sends the events of one open watch.
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { mock } from 'node:test';
import { expect } from 'chai';
import { EVERY_LABEL } from '../../../../apis/meta/v1/label-selector.ts';
import { TimeSlicer } from '../../../../server/concurrency/time-slicer.ts';
import type { KindFacts } from '../../../../server/resources/profiles/kind-values.ts';
import { Selection } from '../../../../server/resources/selection.ts';
import { Objects } from '../../../../server/rest/representation.ts';
import { ChunkEncoder, ChunkedOutput } from '../../../../server/rest/watch-output.ts';
import { InitialEventsBudget, type WatchEnd, WatchSession } from '../../../../server/rest/watch-session.ts';
import { NodeCache, node, nodes } from '../../../support/cluster/node-cache.ts';

const KB = 1024;
const filler = 'x'.repeat(50 * KB);
const EVERYTHING = { labelSelector: EVERY_LABEL, fieldSelector: [] };

/** A connection whose client reads only a given number of chunks. */
class HeldSocket extends Socket {
  #willTake = 0;
  #waiting: (() => void) | undefined;
  #taken = '';

  constructor() {
    super();
    // Otherwise Node would write all queued chunks as one.
    Object.defineProperty(this, '_writev', { value: undefined });
  }

  /** `TYPE name`, or `BOOKMARK resourceVersion`, of each event that the client has read. */
  get events(): string[] {
    return [...this.#taken.matchAll(/^\{"type":"(\w+)".*?"(?:name|resourceVersion)":"([^"]+)"/gm)].map(
      ([, type, what]) => `${type} ${what}`,
    );
  }

  get isEnded(): boolean {
    return this.#taken.endsWith('0\r\n\r\n');
  }

  /** Reads this many more chunks. */
  async accept(count = Number.POSITIVE_INFINITY): Promise<void> {
    this.#willTake += count;
    this.#waiting?.();
    await new Promise(setImmediate);
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    const take = (): void => {
      this.#waiting = undefined;
      this.#willTake--;
      this.#taken += chunk.toString();
      process.nextTick(done);
    };
    if (this.#willTake > 0) take();
    else this.#waiting = take;
  }
}

describe('WatchSession', () => {
  let cache: NodeCache;
  let socket: HeldSocket;
  let response: ServerResponse;
  let session: WatchSession<KindFacts>;
  let initialEvents: InitialEventsBudget;
  let end: WatchEnd | undefined;
  let version = 10;

  function start(
    limits: { readonly maxPendingBytes?: number; readonly stallTimeoutMs?: number } = {},
    selection = new Selection(nodes, EVERYTHING, ''),
  ): void {
    socket = new HeldSocket();
    const request = new IncomingMessage(socket);
    Object.assign(request, { httpVersionMajor: 1, httpVersionMinor: 1 });
    response = new ServerResponse(request);
    response.assignSocket(socket);
    initialEvents = new InitialEventsBudget(1 << 20);
    session = new WatchSession({
      cache: cache.cache,
      selection,
      representation: new Objects(nodes),
      output: new ChunkedOutput(response, new ChunkEncoder()),
      limits: { maxPendingBytes: 16 << 20, stallTimeoutMs: 60_000, ...limits },
      initialEvents,
    });
    end = undefined;
    void session.ended.then((ended) => {
      end = ended;
    });
  }

  function live(...options: Parameters<typeof start>): void {
    start(...options);
    session.subscribe('10');
    session.open();
    session.goLive();
  }

  /** Applies `count` changes. Together they exceed the bytes that the session queues in a socket. */
  function change(count: number): string[] {
    return Array.from({ length: count }, () => {
      const name = `n${++version}`;
      cache.apply('ADDED', node(name, version, {}, { filler }));
      return `ADDED ${name}`;
    });
  }

  beforeEach(() => {
    version = 10;
    cache = new NodeCache();
    cache.fill(10, []);
  });

  afterEach(() => {
    mock.timers.reset();
    session.finish('stopped');
    socket.destroy();
  });

  it('sends queued and new events in order when a slow client reads again', async () => {
    live();
    const expected = change(20);
    expect(socket.writableLength).to.be.lessThan(400 * KB);
    // The client reads some of the bytes in the socket, but not all.
    await socket.accept(4);
    expected.push(...change(1));
    await socket.accept();
    expected.push(...change(1));
    await socket.accept();
    expect(socket.events).to.deep.equal(expected);
    expect(end).to.equal(undefined);
  });

  it('sends no bookmark while events are queued', async () => {
    live();
    const expected = change(20);
    session.sendBookmark();
    await socket.accept();
    session.sendBookmark();
    await socket.accept();
    expect(socket.events).to.deep.equal([...expected, `BOOKMARK ${version}`]);
  });

  it('sends queued events before it ends at a relist', async () => {
    live();
    const expected = change(20);
    cache.fill(100, []);
    expect(end).to.equal(undefined);
    await socket.accept();
    await socket.accept();
    expect(socket.events).to.deep.equal(expected);
    expect(end).to.equal('relisted');
    expect(socket.isEnded).to.equal(true);
  });

  it('resets the queue limit once the client has caught up', async () => {
    live({ maxPendingBytes: 1100 * KB });
    for (let round = 1; round <= 3; round++) {
      change(20);
      await socket.accept(4);
      change(3);
      while (socket.events.length < round * 23) await socket.accept(1);
      expect(end).to.equal(undefined);
    }
  });

  it('does not terminate a client that keeps reading', async () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    live({ stallTimeoutMs: 500 });
    change(30);
    for (let round = 0; round < 3; round++) {
      mock.timers.tick(499);
      await socket.accept(8);
    }
    mock.timers.tick(499);
    await new Promise(setImmediate);
    expect(socket.events).to.have.length.within(18, 29);
    expect(end).to.equal(undefined);
    mock.timers.tick(1);
    expect(await session.ended).to.equal('slow');
  });

  it('releases the budget and the stall timeout after the initial events', async () => {
    const many = Array.from({ length: 100 }, (_, i) => node(`n${1000 + i}`, i + 1, {}, { filler }));
    cache.fill(100, many);
    mock.timers.enable({ apis: ['setTimeout'] });
    start({ stallTimeoutMs: 100 });
    session.open();
    const { chunk } = initialEvents;
    const sent = session.sendInitial(cache.cache.snapshot(), true, new TimeSlicer().of({}));
    expect(socket.writableLength).to.be.lessThan(1000 * KB);
    expect(initialEvents.chunk).to.be.at.most(chunk);
    await socket.accept();
    await sent;
    expect(initialEvents.chunk).to.equal(chunk);
    mock.timers.tick(200);
    await new Promise(setImmediate);
    expect(end).to.equal(undefined);
    expect(socket.events).to.have.length(101);
  });

  it('terminates a stalled client with few queued events', async () => {
    live({ stallTimeoutMs: 20 });
    change(7);
    expect(await session.ended).to.equal('slow');
    expect(response.destroyed).to.equal(true);
  });
});
