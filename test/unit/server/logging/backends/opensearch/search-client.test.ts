// Tests of the client of the search API of OpenSearch.
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import {
  SearchClient,
  type SearchRequest,
} from '../../../../../../server/logging/backends/opensearch/search-client.ts';
import { issueServer, newCA } from '../../../../../support/certificates.ts';
import { storeAt } from '../../../../../support/logging/opensearch-store.ts';
import { startTLSProxy } from '../../../../../support/logging/tls-proxy.ts';
import { call, SELECTION, scriptedStore, searchResponse } from './scripted-store.ts';

const SEARCH: SearchRequest = { method: 'POST', path: '/_search', body: '{}' };

describe('a request to OpenSearch', () => {
  let server: Server;
  let client: SearchClient;
  let requests = 0;
  let respond: (request: IncomingMessage, response: ServerResponse) => void;

  beforeEach(async () => {
    requests = 0;
    server = createServer((request, response) => {
      requests += 1;
      respond(request, response);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    client = new SearchClient({ urls: [`http://127.0.0.1:${port}`] });
  });
  afterEach(() => {
    client.close();
    server.close();
    server.closeAllConnections();
  });

  const send = (request: SearchRequest, signal = new AbortController().signal): Promise<unknown> =>
    client.request(request, { signal, timeoutMs: 5_000 }, (text) => text).catch((error: unknown) => error);

  it('is retried once if the connection ends without a response', async () => {
    respond = (_, response) => {
      if (requests === 1) response.destroy();
      else response.end('{}');
    };
    expect(await send(SEARCH)).to.equal('{}');
    respond = (_, response) => response.destroy();
    requests = 0;
    expect(await send(SEARCH)).to.have.property('code', 503);
    expect(requests).to.equal(2);
  });

  it('is sent to another node if the first one refuses connections', async () => {
    respond = (_, response) => response.end('{}');
    const gone = createServer().listen(0, '127.0.0.1');
    await once(gone, 'listening');
    const { port } = gone.address() as AddressInfo;
    gone.close();
    await once(gone, 'close');
    const { port: there } = server.address() as AddressInfo;
    const [dead, live] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${there}`];
    // The client may start with either.
    for (const urls of [
      [dead, live],
      [live, dead],
    ]) {
      client.close();
      client = new SearchClient({ urls });
      expect(await send(SEARCH)).to.equal('{}');
    }
    expect(requests).to.equal(2);
  });

  it('is neither sent nor retried after its caller disconnects', async () => {
    const reason = new Error('gone');
    expect(await send(SEARCH, AbortSignal.abort(reason))).to.equal(reason);
    expect(requests).to.equal(0);
    const caller = new AbortController();
    respond = (_, response) => {
      caller.abort(reason);
      response.destroy();
    };
    expect(await send(SEARCH, caller.signal)).to.equal(reason);
    expect(requests).to.equal(1);
  });

  it('fails if its caller disconnects during the response, instead of returning a part of it', async () => {
    respond = (_, response) => response.end('{"hits":{}}');
    const reason = new Error('gone');
    const outcomes = new Set<unknown>();
    for (let steps = 0; steps < 24; steps++) {
      const caller = new AbortController();
      const leave = (left: number): void => {
        if (left === 0) caller.abort(reason);
        else queueMicrotask(() => leave(left - 1));
      };
      const came = (): void => leave(steps);
      subscribe('http.client.response.finish', came);
      try {
        outcomes.add(await send(SEARCH, caller.signal));
      } finally {
        unsubscribe('http.client.response.finish', came);
      }
    }
    expect([...outcomes]).to.deep.equal([reason]);
  });

  it('fails if the response is truncated, with and without a length', async () => {
    for (const headers of [{ 'Content-Length': 100 }, {}]) {
      respond = (_, response) => {
        response.writeHead(200, headers);
        response.write('{"hits":{}}', () => response.destroy());
      };
      expect(await send(SEARCH), JSON.stringify(headers)).to.have.property('code', 503);
    }
  });
});

const PAGE = { order: 'asc', size: 1, from: 0 } as const;

describe('the credentials of OpenSearch', () => {
  let dir = '';
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'ks-trust-'));
  });
  afterEach(async () => {
    await rm(dir, { recursive: true });
  });

  const file = async (name: string, text: string) => {
    const path = join(dir, name);
    await writeFile(path, text);
    return path;
  };

  /** `pass` advances it beyond the time for which files are cached. */
  function clock() {
    let now = 0;
    return { now: () => now, pass: () => (now += 2_000) };
  }

  it('verify the certificate of the store with the CA file, and with a changed CA file', async () => {
    const [authority, stranger] = await Promise.all([newCA('ours'), newCA('theirs')]);
    await using store = await scriptedStore(() => searchResponse([]));
    await using proxy = await startTLSProxy(store.url, await issueServer(authority));
    const { now, pass } = clock();
    const caFile = await file('ca.pem', stranger.cert);
    const backend = storeAt(proxy.url, { caFile, now });
    const refused = await backend.query(SELECTION, PAGE, call()).catch((error: unknown) => error);
    expect(refused).to.include({ code: 503 });
    expect(store.requests).to.deep.equal([]);
    await file('ca.pem', authority.cert);
    pass();
    expect((await backend.query(SELECTION, PAGE, call())).records).to.deep.equal([]);
    await file('ca.pem', stranger.cert);
    pass();
    expect(await backend.query(SELECTION, PAGE, call()).catch((error: unknown) => error)).to.include({
      code: 503,
    });
  });

  it('are not sent to a store with an unknown certificate', async () => {
    await using store = await scriptedStore(() => searchResponse([]));
    await using proxy = await startTLSProxy(store.url, await issueServer(await newCA('unknown')));
    const refused = await storeAt(proxy.url)
      .query(SELECTION, PAGE, call())
      .catch((error: unknown) => error);
    expect(refused).to.include({ code: 503 });
    expect(store.requests).to.deep.equal([]);
  });

  it('are a user and the current password of the file', async () => {
    await using store = await scriptedStore(() => searchResponse([]));
    const { now, pass } = clock();
    const passwordFile = await file('password', 'päss:word\n');
    const backend = storeAt(store.url, { username: 'reader', passwordFile, now });
    await backend.query(SELECTION, PAGE, call());
    await file('password', 'another');
    pass();
    await backend.query(SELECTION, PAGE, call());
    const shown = [store.requests[0], store.requests.at(-1)].map(
      (request) => request?.headers.authorization ?? '',
    );
    expect(
      shown.map((header) => Buffer.from(header.replace('Basic ', ''), 'base64').toString()),
    ).to.deep.equal(['reader:päss:word', 'reader:another']);
  });

  it('may be an API key', async () => {
    await using store = await scriptedStore(() => searchResponse([]));
    const apiKeyFile = await file('key', 'aWQ6a2V5\n');
    await storeAt(store.url, { apiKeyFile, username: 'reader' }).query(SELECTION, PAGE, call());
    expect(store.requests.at(-1)?.headers.authorization).to.equal('ApiKey aWQ6a2V5');
  });

  it('are not in the error about an unreadable file', async () => {
    await using store = await scriptedStore(() => searchResponse([]));
    const passwordFile = join(dir, 'missing');
    const error = await storeAt(store.url, { username: 'reader', passwordFile })
      .query(SELECTION, PAGE, call())
      .catch((caught: unknown) => caught);
    expect(error).to.include({ code: 503 });
    expect(String(error)).not.to.include('missing');
    expect(store.requests).to.deep.equal([]);
  });
});
