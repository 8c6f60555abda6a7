// Tests of the requests of `npm run login` to the server.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { expect } from 'chai';
import { AuthorizationServer } from '../../../login/authorization-server.ts';
import { listenOnLoopback } from '../../support/loopback.ts';

describe('the authorization server of npm run login', () => {
  it('gets the name of the program, which the page of the device flow shows', async () => {
    const agents: (string | undefined)[] = [];
    const http = createServer(({ headers }, response) => {
      agents.push(headers['user-agent']);
      response.setHeader('Connection', 'close');
      response.end(JSON.stringify({ issuer: `http://${headers.host}/oauth` }));
    });
    try {
      const server = `http://127.0.0.1:${await listenOnLoopback(http)}`;
      await AuthorizationServer.discover({ server, ca: undefined });
      expect(agents).to.deep.equal(['ks-login']);
    } finally {
      http.close();
      await once(http, 'close');
    }
  });
});
