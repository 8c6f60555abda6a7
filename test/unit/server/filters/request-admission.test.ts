// Tests of the admission filter: seats of requests, and requests that wait for their clients.
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import type { TLSSocket } from 'node:tls';
import { expect } from 'chai';
import type { RequestPools } from '../../../../server/admission/admission.ts';
import { Seats } from '../../../../server/admission/seats.ts';
import type { AuthenticationRequest } from '../../../../server/authentication/authenticator.ts';
import { readBody } from '../../../../server/http/request-body.ts';
import type { Handler } from '../../../../server/request/request-context.ts';
import { fewSeats, requestPools } from '../../../support/request-pools.ts';
import { until } from '../../../support/until.ts';
import { alice, ask, type ChainFixture, chainEach, NODES, rawConnection } from './chain-fixture.ts';

/** One seat for requests, with a queue. */
const queued = (): RequestPools => ({
  ...requestPools(),
  requests: new Seats({ capacity: 1, sharing: 'queue', refusal: () => new Error('not refused') }),
});

const asAlice = { headers: { 'test-user': 'alice' } };

function holding(): { handler: Handler; release: () => void } {
  const held: (() => void)[] = [];
  return {
    handler: ({ response, query, signal }) => {
      signal.addEventListener('abort', () => response.end());
      if (query.has('hold')) held.push(() => response.end());
      else response.end();
    },
    release: () => {
      for (const answer of held.splice(0)) answer();
    },
  };
}

describe('admission', () => {
  const start = chainEach();
  /** One seat in each pool. */
  const oneSeat = (): RequestPools => {
    const names = Object.keys(requestPools()) as (keyof RequestPools)[];
    return Object.fromEntries(names.map((name) => [name, fewSeats(1)])) as Record<keyof RequestPools, never>;
  };

  it('responds with 429 and Retry-After without a seat, until a request ends', async () => {
    const { handler, release } = holding();
    const chain = await start({ handler, pools: oneSeat() });
    const first = ask(chain, `${NODES}?hold`, asAlice);
    await until(() => chain.gauges.readOnly === 1);
    const refused = await ask(chain, NODES, asAlice);
    expect(refused.status).to.equal(429);
    expect(refused.headers['retry-after']).to.equal('1');
    expect(JSON.parse(refused.body)).to.include({ kind: 'Status', reason: 'TooManyRequests' });
    await until(() => chain.audited.length === 1 && chain.terminated.length === 1);
    expect(chain.terminated).to.deep.equal([429]);
    release();
    await first;
    await until(() => chain.gauges.readOnly === 0);
    expect((await ask(chain, NODES, asAlice)).status).to.equal(200);
  });

  it('has seats of their own for streams, health, discovery and system:masters', async () => {
    const { handler, release } = holding();
    const authenticate = ({ request }: AuthenticationRequest) =>
      request.headers['test-user'] === 'root' ? { ...alice, groups: ['system:masters'] } : alice;
    const chain = await start({ handler, pools: oneSeat(), authenticator: { name: 'test', authenticate } });
    const first = ask(chain, `${NODES}?hold`, asAlice);
    const watch = ask(chain, `${NODES}?hold&watch=1`, asAlice);
    await until(() => chain.gauges.readOnly === 1 && chain.gauges.longRunning === 1);
    for (const path of ['/livez', '/apis/resources.platform.io/v1alpha3']) {
      expect((await ask(chain, path)).status, path).to.equal(200);
      await until(() => chain.gauges.readOnly === 1);
    }
    expect((await ask(chain, NODES, { headers: { 'test-user': 'root' } })).status).to.equal(200);
    release();
    await Promise.all([first, watch]);
  });

  it('comes before the reviews of authorization', async () => {
    const { handler, release } = holding();
    let reviews = 0;
    const authorizer = {
      authorize: () => {
        reviews++;
        return { allowed: true, reason: '' };
      },
    };
    const chain = await start({ handler, pools: oneSeat(), authorizer });
    const first = ask(chain, `${NODES}?hold`, asAlice);
    await until(() => chain.gauges.readOnly === 1);
    expect((await ask(chain, NODES, asAlice)).status).to.equal(429);
    expect(reviews).to.equal(1);
    release();
    await first;
  });

  it('lets a request wait for its seat, and releases a seat that nobody waits for any more', async () => {
    const { handler, release } = holding();
    const pools = queued();
    const chain = await start({ handler, pools });
    const first = ask(chain, `${NODES}?hold`, asAlice);
    await until(() => pools.requests.held === 1);
    const waiting = ask(chain, NODES, asAlice);
    const gone = await rawConnection(chain);
    gone.write(`GET ${NODES} HTTP/1.1\r\nHost: x\r\nTest-User: alice\r\n\r\n`);
    await until(() => pools.requests.waiting === 2);
    gone.destroy();
    await until(() => pools.requests.waiting === 1);
    release();
    expect((await waiting).status).to.equal(200);
    await first;
    await until(() => pools.requests.held === 0);
  });

  it('ends a preempted stream, and closes its connection if the client does not read', async () => {
    const pools = requestPools(2);
    const chain = await start({
      pools,
      authorizer: { authorize: () => ({ allowed: true, reason: '' }) },
      handler: ({ response, signal }) => {
        response.write(Buffer.alloc(16 << 20, 'x'));
        signal.addEventListener('abort', () => response.end());
      },
    });
    const watch = `GET ${NODES}?watch=1 HTTP/1.1\r\nHost: x\r\nTest-User: alice\r\n\r\n`;
    const unread = [await rawConnection(chain), await rawConnection(chain)];
    for (const socket of unread) {
      socket.on('error', () => undefined);
      socket.pause();
      socket.write(watch);
    }
    await until(() => pools.streams.held === 2);
    const admitted = await rawConnection(chain);
    admitted.write(watch.replace('alice', 'root'));
    await until(() => pools.streams.preempted === 1);
    expect(pools.streams.held).to.equal(2);
    await until(() => chain.chain.open === 2);
    for (const socket of [...unread, admitted]) socket.destroy();
    await until(() => pools.streams.held === 0);
  });
});

describe('a request that waits for its client', () => {
  const start = chainEach();
  let now: number;

  beforeEach(() => {
    now = 0;
  });

  async function announced(chain: ChainFixture, body: string): Promise<TLSSocket> {
    const socket = await rawConnection(chain);
    socket.write(`POST ${NODES} HTTP/1.1\r\nHost: x\r\nTest-User: alice\r\nContent-Length: 4\r\n\r\n${body}`);
    await until(() => chain.gauges.mutating === 1);
    return socket;
  }

  /** Handles requests with bodies. */
  const reading: Handler = async ({ request, response }) => {
    await readBody(request, 1000);
    response.end('done');
  };

  it('gives its seat back when its body is incomplete after a second, and can still complete', async () => {
    const pools = queued();
    const chain = await start({ pools, monotonic: () => now, handler: reading });
    const socket = await announced(chain, 'x');
    const other = ask(chain, NODES, { ...asAlice, method: 'POST', body: 'body' });
    await until(() => pools.requests.waiting === 1);
    now = 1000;
    expect(await other).to.include({ status: 200, body: 'done' });
    expect(pools.stalled.held).to.equal(1);
    socket.write('xxx');
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString()).to.match(/^HTTP\/1\.1 200 /);
    await until(() => pools.stalled.held === 0);
    socket.destroy();
  });

  it('holds a seat again when its body is complete, or gets 429 without a free one', async () => {
    const { handler, release } = holding();
    const aborted: boolean[] = [];
    const pools = { ...requestPools(), requests: fewSeats(1) };
    const working: Handler = async (context) => {
      await readBody(context.request, 1000);
      aborted.push(context.signal.aborted);
      return handler(context);
    };
    const chain = await start({ pools, monotonic: () => now, handler: working });
    const held = async (): Promise<TLSSocket> => {
      const socket = await rawConnection(chain);
      const head = `POST ${NODES}?hold HTTP/1.1\r\nHost: x\r\nTest-User: alice\r\nContent-Length: 4\r\n\r\nx`;
      socket.write(head);
      await until(() => pools.requests.held === 1);
      now += 1000;
      await until(() => pools.stalled.held > 0 && pools.requests.held === 0);
      return socket;
    };
    const first = await held();
    const second = await held();
    expect(pools.stalled.held).to.equal(2);
    first.write('xxx');
    await until(() => aborted.length === 1);
    expect([pools.requests.held, pools.stalled.held, ...aborted]).to.deep.equal([1, 1, false]);
    const refused = text(second);
    second.write('xxx');
    await until(() => aborted.length === 2);
    expect(aborted).to.deep.equal([false, true]);
    expect(pools.requests.held).to.equal(1);
    second.end();
    expect(await refused).to.match(/^HTTP\/1\.1 429 /);
    release();
    first.destroy();
    await until(() => chain.chain.open === 0);
    expect([pools.requests.held, pools.stalled.held]).to.deep.equal([0, 0]);
  });

  it('holds a seat again when the client reads the response again', async () => {
    const pools = requestPools(10);
    const chain = await start({
      pools,
      monotonic: () => now,
      handler: ({ response }) => void response.write(Buffer.alloc(16 << 20, 'x')),
    });
    const socket = await rawConnection(chain);
    socket.pause();
    socket.write(`GET ${NODES} HTTP/1.1\r\nHost: x\r\nTest-User: alice\r\n\r\n`);
    const moving = setInterval(() => {
      now += 500;
    }, 100);
    await until(() => pools.stalled.held === 1 && pools.requests.held === 0);
    socket.resume();
    await until(() => pools.stalled.held === 0 && pools.requests.held === 1);
    clearInterval(moving);
    socket.destroy();
    await until(() => pools.requests.held === 0);
  });

  it('gets 429 when too many of its kind wait, and its caller has the most', async () => {
    const pools = { ...requestPools(10), stalled: fewSeats(0, 'preempt') };
    const chain = await start({ pools, monotonic: () => now, handler: reading });
    const socket = await announced(chain, 'x');
    const received = text(socket);
    now = 1000;
    expect(await received)
      .to.match(/^HTTP\/1\.1 429 [^]*retry-after: 1\r\n/i)
      .and.to.match(/connection: close/i);
    await until(() => pools.requests.held === 0);
  });

  it('keeps its seat if the server works without the incomplete body', async () => {
    const { handler, release } = holding();
    const pools = requestPools();
    const chain = await start({
      pools,
      monotonic: () => now,
      handler: (context) => (context.query.has('hold') ? handler(context) : reading(context)),
    });
    const working = await rawConnection(chain);
    working.write(`GET ${NODES}?hold HTTP/1.1\r\nHost: x\r\nTest-User: alice\r\nContent-Length: 4\r\n\r\nx`);
    const waiting = await announced(chain, 'x');
    await until(() => pools.requests.held === 2);
    now = 1000;
    await until(() => pools.stalled.held > 0);
    expect([pools.requests.held, pools.stalled.held]).to.deep.equal([1, 1]);
    release();
    for (const socket of [working, waiting]) socket.destroy();
  });

  it('keeps its seat while the server works, however long that takes', async () => {
    const { handler, release } = holding();
    const pools = queued();
    const chain = await start({ pools, monotonic: () => now, handler });
    const slow = ask(chain, `${NODES}?hold`, asAlice);
    await until(() => pools.requests.held === 1);
    now = 30_000;
    const checked = ask(chain, NODES, asAlice);
    await until(() => pools.requests.waiting === 1);
    expect(pools.stalled.held).to.equal(0);
    release();
    expect((await Promise.all([slow, checked])).map(({ status }) => status)).to.deep.equal([200, 200]);
  });

  for (const [what, stalled, open] of [
    ['gives its seat back when the client has not read the response for a second', 10, 1],
    ['loses its connection when too many of its kind wait', 0, 0],
  ] as const) {
    it(what, async () => {
      const pools = { ...queued(), stalled: fewSeats(stalled, 'preempt') };
      const body = Buffer.alloc(16 << 20, 'x');
      const chain = await start({
        pools,
        monotonic: () => now,
        handler: ({ response, query }) => void response.end(query.has('large') ? body : 'done'),
      });
      const socket = await rawConnection(chain);
      socket.on('error', () => undefined);
      socket.pause();
      socket.write(`GET ${NODES}?large HTTP/1.1\r\nHost: x\r\nTest-User: alice\r\n\r\n`);
      await until(() => pools.requests.held === 1);
      const other = ask(chain, NODES, asAlice);
      await until(() => pools.requests.waiting === 1);
      // The first check sees the bytes that the kernel has accepted, the next one that they do not change.
      const moving = setInterval(() => {
        now += 500;
      }, 100);
      expect((await other).status).to.equal(200);
      clearInterval(moving);
      await until(() => chain.chain.open === open);
      socket.destroy();
      await until(() => pools.stalled.held === 0);
    });
  }
});
