import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import {
  bodyText,
  Connection,
  type StoreRequest,
} from '../../../../../../../server/logging/backends/opensearch/connection/connection.ts';

const SEARCH: StoreRequest = { method: 'POST', path: '/_search', body: '{}' };

describe('a request to OpenSearch', () => {
  let server: Server;
  let connection: Connection;
  let asked = 0;
  let answer: (request: IncomingMessage, response: ServerResponse) => void;

  beforeEach(async () => {
    asked = 0;
    server = createServer((request, response) => {
      asked += 1;
      answer(request, response);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    connection = new Connection({ urls: [`http://127.0.0.1:${port}`] });
  });
  afterEach(() => {
    connection.close();
    server.close();
    server.closeAllConnections();
  });

  const send = (request: StoreRequest, signal = new AbortController().signal): Promise<unknown> =>
    connection.request(request, { signal, timeoutMs: 5_000 }).then(
      (body) => body && bodyText(body),
      (error: unknown) => error,
    );

  it('that nobody answered is sent again, once', async () => {
    answer = (_, response) => {
      if (asked === 1) response.destroy();
      else response.end('{}');
    };
    expect(await send(SEARCH)).to.equal('{}');
    answer = (_, response) => response.destroy();
    asked = 0;
    expect(await send(SEARCH)).to.have.property('code', 503);
    expect(asked).to.equal(2);
  });

  it('that would leave something behind twice is not sent again', async () => {
    answer = (_, response) => response.destroy();
    expect(await send({ ...SEARCH, repeatable: false })).to.have.property('code', 503);
    expect(asked).to.equal(1);
  });

  it('that would is sent to another node all the same where the first one is not there', async () => {
    answer = (_, response) => response.end('{}');
    const gone = createServer().listen(0, '127.0.0.1');
    await once(gone, 'listening');
    const { port } = gone.address() as AddressInfo;
    gone.close();
    await once(gone, 'close');
    const { port: there } = server.address() as AddressInfo;
    const [dead, live] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${there}`];
    // Whichever the client takes first.
    for (const urls of [
      [dead, live],
      [live, dead],
    ]) {
      connection.close();
      connection = new Connection({ urls });
      expect(await send({ ...SEARCH, repeatable: false })).to.equal('{}');
    }
    expect(asked).to.equal(2);
  });

  it('of who has gone is not sent, nor sent again', async () => {
    const reason = new Error('gone');
    expect(await send(SEARCH, AbortSignal.abort(reason))).to.equal(reason);
    expect(asked).to.equal(0);
    const caller = new AbortController();
    answer = (_, response) => {
      caller.abort(reason);
      response.destroy();
    };
    expect(await send(SEARCH, caller.signal)).to.equal(reason);
    expect(asked).to.equal(1);
  });

  it('has no answer for who goes at the moment it comes, rather than half of one', async () => {
    answer = (_, response) => response.end('{"hits":{}}');
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

  it('has no answer when that was cut, however it was sent', async () => {
    for (const headers of [{ 'Content-Length': 100 }, {}]) {
      answer = (_, response) => {
        response.writeHead(200, headers);
        response.write('{"hits":{}}', () => response.destroy());
      };
      expect(await send(SEARCH), JSON.stringify(headers)).to.have.property('code', 503);
    }
  });
});
