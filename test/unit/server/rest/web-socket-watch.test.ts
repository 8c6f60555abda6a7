// Tests of watches over WebSocket.
import { createServer, type Server } from 'node:http';
import { expect } from 'chai';
import { record } from '../../../../apis/reading/unknown-value.ts';
import type { App } from '../../../../server/app.ts';
import { ANONYMOUS, type UserInfo } from '../../../../server/authentication/user.ts';
import { DEFAULT_OPTIONS, resourceHandler } from '../../../../server/rest/resource-handler.ts';
import type { WatchOptions } from '../../../../server/rest/watch.ts';
import type { WatchEnd } from '../../../../server/rest/watch-session.ts';
import { NodeCache, node, nodes } from '../../../support/cluster/node-cache.ts';
import { closeNow, listenOnLoopback } from '../../../support/loopback.ts';
import { openChain } from '../../../support/open-chain.ts';
import { until } from '../../../support/until.ts';
import { shakeHands, WebSocketClient } from '../../../support/web-socket-client.ts';

const NODES = '/apis/resources.platform.io/v1alpha3/nodes';
const WATCH = `${NODES}?watch=true`;
const ADA: UserInfo = { name: 'ada', uid: '', groups: [], extra: {} };
const NORMAL = 1000;
/** Close code of a lost connection. */
const ABNORMAL = 1006;
const TOO_LONG = 1009;

describe('watch over WebSocket', () => {
  let cache: NodeCache;
  let chain: App;
  let server: Server;
  let port: number;
  let stop: AbortController;
  let ends: WatchEnd[];
  const clients: WebSocketClient[] = [];

  async function start(options: Partial<WatchOptions> = {}): Promise<void> {
    const observer = {
      sent: () => undefined,
      ended: (end: WatchEnd) => void ends.push(end),
    };
    const all = { ...DEFAULT_OPTIONS, watch: { ...DEFAULT_OPTIONS.watch, observer, ...options } };
    stop = new AbortController();
    chain = openChain({
      authenticator: {
        name: 'test',
        authenticate: ({ request }) => (request.headers.authorization === undefined ? ANONYMOUS : ADA),
      },
      handlers: new Map([[NODES, resourceHandler(nodes, cache.cache, all)]]),
      signal: stop.signal,
    });
    server = createServer((request, response) => chain.serve(request, response, true));
    server.on('upgrade', (request, socket, head) => chain.serveUpgrade(request, socket, head, true));
    port = await listenOnLoopback(server);
  }

  function url(query = ''): string {
    return `ws://127.0.0.1:${port}${WATCH}${query}`;
  }

  async function connect(
    query = '',
    headers: Readonly<Record<string, string>> = {},
    protocols: string[] = [],
  ) {
    const client = await WebSocketClient.connect({ url: url(query), headers, protocols });
    clients.push(client);
    return client;
  }

  async function events(client: WebSocketClient, count: number): Promise<string[]> {
    return (await client.texts(count)).map((text) => {
      expect(text).to.match(/^[^\n]*\n$/);
      const { type, object } = record(JSON.parse(text));
      return `${String(type)} ${String(record(record(object)['metadata'])['name'])}`;
    });
  }

  beforeEach(async () => {
    ends = [];
    cache = new NodeCache();
    cache.fill(10, [node('a', 1, { zone: 'x' }), node('b', 2, { zone: 'y' })]);
    await start();
  });

  afterEach(async () => {
    for (const client of clients.splice(0)) client.close();
    stop.abort();
    await closeNow(server);
    expect(cache.cache.watchers).to.equal(0);
  });

  it('sends long events in one message', async () => {
    const client = await connect('', {}, ['base64.binary.k8s.io']);
    expect(client.headers['sec-websocket-protocol']).to.equal('base64.binary.k8s.io');
    await events(client, 2);
    for (const [version, length] of [120, 60_000, 300_000].entries()) {
      cache.apply('ADDED', node(`n${version}`, 11 + version, {}, { filler: 'ü'.repeat(length) }));
      expect(await events(client, 1)).to.deep.equal([`ADDED n${version}`]);
    }
  });

  it('closes normally at its timeout and at a server stop', async () => {
    const short = await connect('&timeoutSeconds=1&resourceVersion=10');
    const long = await connect('&resourceVersion=10');
    expect(await short.next()).to.deep.equal(['close', NORMAL]);
    expect(chain.drain()).to.be.at.least(1);
    expect(await long.next()).to.deep.equal(['close', NORMAL]);
    await until(() => ends.length === 2);
    expect(ends).to.deep.equal(['timeout', 'stopped']);
  });

  it('ends when the client closes or disconnects', async () => {
    const polite = await connect('&resourceVersion=10');
    polite.webSocket.close(NORMAL);
    expect(await polite.next()).to.deep.equal(['close', NORMAL]);
    (await connect('&resourceVersion=10')).close();
    await until(() => cache.cache.watchers === 0 && chain.open === 0);
    expect(ends).to.deep.equal(['stopped', 'stopped']);
  });

  it('responds to pings and ignores messages', async () => {
    const client = await connect('&resourceVersion=10');
    client.webSocket.send('x'.repeat(65_536));
    client.webSocket.ping('are you there?');
    expect(await client.next()).to.deep.equal(['pong', 'are you there?']);
    cache.apply('ADDED', node('c', 11));
    expect(await events(client, 1)).to.deep.equal(['ADDED c']);
  });

  it('closes on messages over the limit', async () => {
    const client = await connect('&resourceVersion=10');
    client.webSocket.send('x'.repeat(65_537));
    expect(await client.next()).to.deep.equal(['close', TOO_LONG]);
  });

  it('limits queued pongs for a client that does not read', async () => {
    const client = await connect('&resourceVersion=10');
    client.webSocket.pause();
    // More pings than the buffers of two sockets hold.
    const pings = 160_000;
    const payload = Buffer.alloc(125);
    for (let i = 1; i < pings; i++) client.webSocket.ping(payload);
    await new Promise((resolve) => client.webSocket.ping(payload, true, resolve));
    client.webSocket.resume();
    let answers = 0;
    const asking = setInterval(() => client.webSocket.ping('still there?'), 20);
    while ((await client.next())[1] !== 'still there?') answers++;
    clearInterval(asking);
    expect(answers).to.be.within(1, pings - 1);
  });

  it('terminates only the client that does not read', async () => {
    stop.abort();
    await closeNow(server);
    cache = new NodeCache();
    cache.fill(10, []);
    await start({ maxPendingBytes: 100_000 });
    const slow = await connect();
    slow.webSocket.pause();
    const other = await connect();
    for (let version = 11; ends.length === 0; version++) {
      cache.apply('ADDED', node(`n${version}`, version, {}, { filler: 'x'.repeat(200_000) }));
      expect(await events(other, 1)).to.deep.equal([`ADDED n${version}`]);
    }
    expect(ends).to.deep.equal(['slow']);
    slow.webSocket.resume();
    let heard = await slow.next();
    while (heard[0] === 'text') heard = await slow.next();
    expect(heard).to.deep.equal(['close', ABNORMAL]);
  });

  describe('rejects', () => {
    const cases: Readonly<Record<string, readonly [Readonly<Record<string, string>>, number]>> = {
      'another version': [{ 'Sec-WebSocket-Version': '8' }, 400],
      'a handshake without a key': [{ 'Sec-WebSocket-Key': '' }, 400],
      'an invalid key': [{ 'Sec-WebSocket-Key': 'abc' }, 400],
      'subprotocols with invalid names': [{ 'Sec-WebSocket-Protocol': 'a,,b' }, 400],
      'the same subprotocol twice': [{ 'Sec-WebSocket-Protocol': 'a, b, a' }, 400],
      'a page of another origin': [{ Origin: 'https://evil.example' }, 403],
      'a page without an origin': [{ Origin: 'null' }, 403],
      'a page of its own host over plain HTTP': [{ Origin: `http://127.0.0.1:PORT` }, 403],
      'a page of another site': [{ 'Sec-Fetch-Site': 'same-site' }, 403],
    };
    for (const [what, [headers, status]] of Object.entries(cases)) {
      it(what, async () => {
        const sent = Object.entries(headers).map(([name, value]) => [
          name,
          value.replace('PORT', String(port)),
        ]);
        const answer = await shakeHands(url(), Object.fromEntries(sent));
        expect(answer.status).to.equal(status);
        expect(JSON.parse(answer.body)).to.include({ kind: 'Status', code: status });
      });
    }

    it('conflicting options before the handshake', async () => {
      expect((await connect('&sendInitialEvents=true')).status).to.equal(422);
    });
  });

  it('accepts its own origin, and every origin with a token, which a page of another origin does not have', async () => {
    expect((await connect('', { Origin: `https://127.0.0.1:${port}` })).status).to.equal(101);
    const withToken = { Origin: 'https://elsewhere', Authorization: 'Bearer token' };
    expect((await connect('', withToken)).status).to.equal(101);
  });

  it('accepts an empty list of subprotocols', async () => {
    for (const empty of ['', '  ']) {
      const { status, socket } = await shakeHands(url(), { 'Sec-WebSocket-Protocol': empty });
      expect(status).to.equal(101);
      socket.destroy();
    }
  });

  it('never echoes a token in a subprotocol', async () => {
    const token = 'base64url.bearer.authorization.k8s.io.c2VjcmV0';
    const client = await connect('', {}, [token, 'base64.binary.k8s.io']);
    expect(client.headers['sec-websocket-protocol']).to.equal('base64.binary.k8s.io');
    const bare = await connect('', {}, [token]);
    expect([bare.status, JSON.stringify(bare.headers).includes('c2VjcmV0')]).to.deep.equal([101, false]);
  });
});
