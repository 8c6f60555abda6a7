import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Agent, request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { type Issued, issueServer, newCA } from '../../../support/certificates.ts';
import { startTLSProxy, type TLSProxy } from '../../../support/logging/tls-proxy.ts';

interface Answer {
  readonly status: number | undefined;
  readonly body: string;
}

describe('TLS and credentials in front of a store', () => {
  let ca: Issued;
  let pair: Issued;
  before(async () => {
    ca = await newCA('store CA');
    pair = await issueServer(ca);
  });

  async function behindFront(
    store: (request: IncomingMessage, response: ServerResponse) => void | Promise<void>,
    use: (proxy: TLSProxy, ask: (path: string, init?: Asked) => Promise<Answer>) => Promise<void>,
    authorization?: readonly string[],
  ): Promise<void> {
    const server = createServer((request, response) => {
      void store(request, response);
    });
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    const { port } = server.address() as AddressInfo;
    const proxy = await startTLSProxy(`http://127.0.0.1:${port}`, {
      cert: pair.cert,
      key: pair.key,
      ...(authorization === undefined ? {} : { authorization }),
    });
    try {
      await use(proxy, (path, init) => ask(proxy, path, init));
    } finally {
      await proxy.stop();
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    }
  }

  interface Asked {
    readonly method?: string;
    readonly headers?: Record<string, string>;
    readonly body?: string;
    readonly signal?: AbortSignal;
  }

  async function ask(proxy: TLSProxy, path: string, { body, ...init }: Asked = {}): Promise<Answer> {
    const asked = request(`${proxy.url}${path}`, { ca: ca.cert, agent: new Agent(), ...init });
    asked.end(body);
    const [response] = (await once(asked, 'response')) as [IncomingMessage];
    return { status: response.statusCode, body: await text(response) };
  }

  it('forwards method, path, query and body, but not the credentials', async () => {
    await behindFront(
      async (incoming, outgoing) => {
        const { method, url, headers } = incoming;
        const body = await text(incoming);
        outgoing.writeHead(201).end(JSON.stringify([method, url, headers.authorization ?? null, body]));
      },
      async (_, asked) => {
        const headers = { authorization: 'ApiKey right' };
        const answer = await asked('/logs-*/_search?a=%20b', { method: 'POST', headers, body: '{"size":1}' });
        expect(answer).to.deep.equal({
          status: 201,
          body: '["POST","/logs-*/_search?a=%20b",null,"{\\"size\\":1}"]',
        });
      },
      ['ApiKey right'],
    );
  });

  it('forwards nothing without valid credentials', async () => {
    let reached = 0;
    await behindFront(
      (_, outgoing) => {
        reached++;
        outgoing.end();
      },
      async (_, asked) => {
        expect((await asked('/')).status).to.equal(401);
        expect((await asked('/', { headers: { authorization: 'ApiKey wrong' } })).status).to.equal(401);
        expect(reached).to.equal(0);
        expect((await asked('/', { headers: { authorization: 'Basic right' } })).status).to.equal(200);
        expect(reached).to.equal(1);
      },
      ['ApiKey right', 'Basic right'],
    );
  });

  it("streams, and aborts the store's request when the client disconnects", async () => {
    const { promise: gone, resolve } = Promise.withResolvers<void>();
    await behindFront(
      (_, outgoing) => {
        outgoing.on('close', resolve);
        outgoing.write('first line\n');
      },
      async (proxy) => {
        const asked = request(`${proxy.url}/tail`, { ca: ca.cert, agent: new Agent() });
        asked.end();
        const [response] = (await once(asked, 'response')) as [IncomingMessage];
        const [chunk] = (await once(response, 'data')) as [Buffer];
        expect(chunk.toString()).to.equal('first line\n');
        response.on('error', () => undefined);
        asked.destroy();
        await gone;
      },
    );
  });

  it('truncates the response where the store does', async () => {
    await behindFront(
      (_, outgoing) => {
        outgoing.write('half', () => outgoing.destroy());
      },
      async (_, asked) => {
        const how = await asked('/').then(
          () => 'complete',
          (error: unknown) => (error instanceof Error && 'code' in error ? error.code : 'other'),
        );
        expect(how).to.equal('ECONNRESET');
      },
    );
  });
});
