import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { expect } from 'chai';
import { record } from '../../../../../apis/reading/unknown-value.ts';
import { DEFAULT_OPTIONS, resourceHandler } from '../../../../../server/endpoints/rest/resource-handler.ts';
import type { WatchOptions } from '../../../../../server/endpoints/rest/watch.ts';
import type { WatchEnd } from '../../../../../server/endpoints/rest/watch-session.ts';
import type { RequestChain } from '../../../../../server/filters/chain.ts';
import { NodeCache, node, nodes } from '../../../../support/cluster/node-cache.ts';
import { closeNow, listenOnLoopback } from '../../../../support/loopback.ts';
import { openChain } from '../../../../support/open-chain.ts';
import { until } from '../../../../support/until.ts';
import {
  CLOSE,
  clientFrame,
  PING,
  PONG,
  TEXT,
  WebSocketClient,
} from '../../../../support/web-socket-client.ts';

const NODES = '/apis/resources.platform.io/v1alpha3/nodes';
const WATCH = `${NODES}?watch=true`;
const NORMAL = '03e8';
const PROTOCOL_ERROR = '03ea';

describe('watch over WebSocket', () => {
  let cache: NodeCache;
  let chain: RequestChain;
  let server: Server;
  let port: number;
  let stop: AbortController;
  let ends: WatchEnd[];
  const clients: WebSocketClient[] = [];

  async function start(options: Partial<WatchOptions> = {}): Promise<void> {
    const observer = { sent: () => undefined, ended: (end: WatchEnd) => void ends.push(end) };
    const all = { ...DEFAULT_OPTIONS, watch: { ...DEFAULT_OPTIONS.watch, observer, ...options } };
    stop = new AbortController();
    chain = openChain({
      handlers: new Map([[NODES, resourceHandler(nodes, cache.cache, all)]]),
      signal: stop.signal,
    });
    server = createServer((request, response) => chain.serve(request, response, true));
    server.on('upgrade', (request, socket, head) => chain.serveUpgrade(request, socket, head, true));
    port = await listenOnLoopback(server);
  }

  async function connect(query = '', headers: Readonly<Record<string, string>> = {}) {
    const client = await WebSocketClient.connect({ port, path: WATCH + query, headers });
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

  it('sends each event as a text of its own, the first ones too', async () => {
    const client = await connect();
    expect(client.status).to.equal(101);
    expect(client.head).to.match(/\r\nAudit-Id: [0-9a-f-]{36}(?:\r\n|$)/);
    expect(await events(client, 2)).to.deep.equal(['ADDED a', 'ADDED b']);
    cache.apply('ADDED', node('c', 11));
    cache.apply('DELETED', node('a', 12));
    expect(await events(client, 2)).to.deep.equal(['ADDED c', 'DELETED a']);
  });

  it('is understood by a client that others wrote', async () => {
    const client = new WebSocket(`ws://127.0.0.1:${port}${WATCH}`, ['base64.binary.k8s.io']);
    const seen: string[] = [];
    client.addEventListener('message', ({ data }) => void seen.push(String(data)));
    await until(() => seen.length === 2);
    cache.apply('ADDED', node('c', 11, {}, { filler: 'ü'.repeat(100_000) }));
    await until(() => seen.length === 3);
    expect(client.protocol).to.equal('base64.binary.k8s.io');
    expect(seen.map((text) => record(JSON.parse(text))['type'])).to.deep.equal(['ADDED', 'ADDED', 'ADDED']);
    const closed = once(client, 'close');
    client.close();
    const [{ code, wasClean }] = (await closed) as [CloseEvent];
    expect([code, wasClean]).to.deep.equal([1000, true]);
  });

  it('closes in good order when its time is over, and when the server stops', async () => {
    const short = await connect('&timeoutSeconds=1&resourceVersion=10');
    const long = await connect('&resourceVersion=10');
    expect((await short.next())?.payload.toString('hex')).to.equal(NORMAL);
    expect(chain.drain()).to.be.at.least(1);
    const last = await long.next();
    expect([last?.opcode, last?.payload.toString('hex')]).to.deep.equal([CLOSE, NORMAL]);
    expect(await long.next()).to.equal(undefined);
    await until(() => ends.length === 2);
    expect(ends).to.deep.equal(['timeout', 'stopped']);
  });

  it('ends when the client says so, or goes without a word', async () => {
    const polite = await connect('&resourceVersion=10');
    polite.send(CLOSE, Buffer.from(NORMAL, 'hex'));
    expect((await polite.next())?.opcode).to.equal(CLOSE);
    expect(await polite.next()).to.equal(undefined);
    polite.close();
    (await connect('&resourceVersion=10')).close();
    await until(() => cache.cache.watchers === 0 && chain.open === 0);
    expect(ends).to.deep.equal(['stopped', 'stopped']);
  });

  it('answers pings, and hears nothing else', async () => {
    const client = await connect('&resourceVersion=10');
    client.send(TEXT, 'x'.repeat(70_000));
    client.send(PING, 'are you there?');
    const pong = await client.next();
    expect([pong?.opcode, pong?.payload.toString()]).to.deep.equal([PONG, 'are you there?']);
    cache.apply('ADDED', node('c', 11));
    expect(await events(client, 1)).to.deep.equal(['ADDED c']);
  });

  it('closes on who breaks the protocol', async () => {
    const client = await connect('&resourceVersion=10');
    client.socket.write(Buffer.from([0x81, 1, 65]));
    expect((await client.next())?.payload.toString('hex')).to.equal(PROTOCOL_ERROR);
    client.close();
    await until(() => chain.open === 0);
  });

  it('reads frames that come with the handshake', async () => {
    const path = `${WATCH}&resourceVersion=10`;
    const early = clientFrame(PING, Buffer.from('early'));
    const client = await WebSocketClient.connect({ port, path, early });
    clients.push(client);
    expect((await client.next())?.payload.toString()).to.equal('early');
  });

  it('tells of a past that is gone by an event', async () => {
    const client = await connect('&resourceVersion=1');
    const [text = ''] = await client.texts(1);
    expect(JSON.parse(text)).to.have.nested.property('object.reason', 'Expired');
    expect((await client.next())?.opcode).to.equal(CLOSE);
  });

  it('cuts off alone a reader that takes nothing', async () => {
    stop.abort();
    await closeNow(server);
    cache = new NodeCache();
    cache.fill(10, []);
    await start({ maxPendingBytes: 100_000 });
    const slow = await connect();
    slow.socket.pause();
    const other = await connect();
    for (let version = 11; ends.length === 0; version++) {
      cache.apply('ADDED', node(`n${version}`, version, {}, { filler: 'x'.repeat(200_000) }));
      expect(await events(other, 1)).to.deep.equal([`ADDED n${version}`]);
    }
    expect(ends).to.deep.equal(['slow']);
  });

  describe('refuses', () => {
    const cases: Readonly<Record<string, readonly [Readonly<Record<string, string>>, number]>> = {
      'another version': [{ 'Sec-WebSocket-Version': '8' }, 400],
      'a handshake without a key': [{ 'Sec-WebSocket-Key': '' }, 400],
      'a key that is none': [{ 'Sec-WebSocket-Key': 'abc' }, 400],
      'a page of another origin, for its browser would send the client certificate of its user': [
        { Origin: 'https://evil.example' },
        403,
      ],
      'a page without an origin': [{ Origin: 'null' }, 403],
    };
    for (const [what, [headers, status]] of Object.entries(cases)) {
      it(what, async () => {
        const client = await connect('', headers);
        expect(client.status).to.equal(status);
        expect(JSON.parse(await client.body())).to.include({ kind: 'Status', code: status });
      });
    }

    it('options that do not go together, before the handshake', async () => {
      expect((await connect('&sendInitialEvents=true')).status).to.equal(422);
    });
  });

  it('lets in pages of its own address, and what kube-apiserver hands over', async () => {
    expect((await connect('', { Origin: `https://127.0.0.1:${port}` })).status).to.equal(101);
    const forwarded = { Origin: 'https://elsewhere', 'X-Forwarded-For': '10.0.0.1' };
    expect((await connect('', forwarded)).status).to.equal(101);
  });

  it('repeats no token that came as a subprotocol', async () => {
    const token = 'base64url.bearer.authorization.k8s.io.c2VjcmV0';
    const client = await connect('', { 'Sec-WebSocket-Protocol': `${token}, base64.binary.k8s.io` });
    expect(client.head).to.contain('\r\nSec-WebSocket-Protocol: base64.binary.k8s.io');
    const bare = await connect('', { 'Sec-WebSocket-Protocol': token });
    expect([bare.status, bare.head.includes('c2VjcmV0')]).to.deep.equal([101, false]);
  });
});
