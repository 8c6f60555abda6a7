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
import { storeAt } from '../../../../../support/logging/opensearch-store.ts';
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
});

it('a request to OpenSearch can have an API key', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'api-key-'));
  try {
    const apiKeyFile = join(dir, 'key');
    await writeFile(apiKeyFile, 'aWQ6a2V5\n');
    await using store = await scriptedStore(() => searchResponse([]));
    const page = { order: 'asc', size: 1, from: 0 } as const;
    await storeAt(store.url, { apiKeyFile, username: 'reader' }).query(SELECTION, page, call());
    expect(store.requests.at(-1)?.headers.authorization).to.equal('ApiKey aWQ6a2V5');
  } finally {
    await rm(dir, { recursive: true });
  }
});
