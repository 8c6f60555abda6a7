// Tests of the requests of the client library, against a real HTTP server.
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { Client } from '../../../client/index.ts';
import { listenOnLoopback } from '../../support/loopback.ts';

describe('a request of the client', () => {
  let server: Server;
  let handle: RequestListener;
  let address: string;

  beforeEach(async () => {
    server = createServer((request, response) => handle(request, response));
    await listenOnLoopback(server);
    address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });

  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  it('sends the token, and the query of a list', async () => {
    let asked: string[] = [];
    handle = ({ url = '', headers }, response) => {
      asked = [url, headers.authorization ?? ''];
      response.end('{"items":[],"totalItems":0,"metadata":{"resourceVersion":"1"}}');
    };
    const client = new Client({ server: `${address}/prefix/`, token: 'T' });
    const page = await client.lists.page('deployments.apps', { names: [], status: ['a', 'b'], limit: 5 });
    expect(page.totalItems).to.equal(0);
    expect(asked).to.deep.equal([
      '/prefix/kapis/resources.platform.io/v1alpha3/deployments.apps?names=&status=a%2Cb&limit=5',
      'Bearer T',
    ]);
  });
});
