// Tests of ordinary requests through the gateway, with a scripted kube-apiserver.
import { expect } from 'chai';
import { ForwardingServer } from '../../../support/gateway/forwarding-server.ts';
import { ScriptedUpstream } from '../../../support/gateway/scripted-upstream.ts';

const PODS = '/api/v1/namespaces/shop/pods';

describe('a forwarded request', () => {
  let upstream: ScriptedUpstream;
  let server: ForwardingServer;

  beforeEach(async () => {
    upstream = await ScriptedUpstream.start();
    server = await ForwardingServer.start({ cluster: () => upstream });
  });
  afterEach(async () => {
    await server.stop();
    await upstream.stop();
  });

  it('keeps a chunked body in its request, for every method', async () => {
    const bodies: string[] = [];
    upstream.respond = (request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => {
        body += chunk.toString();
      });
      request.on('end', () => {
        bodies.push(`${request.method} ${request.url} ${body}`);
        response.end('ok');
      });
    };
    const inner = 'GET /api/v1/smuggled HTTP/1.1\r\nHost: a\r\n\r\n';
    for (const method of ['GET', 'DELETE', 'POST']) {
      const chunked = `${inner.length.toString(16)}\r\n${inner}\r\n0\r\n\r\n`;
      await server.exchange([`${method} ${PODS} HTTP/1.1`, 'Transfer-Encoding: chunked'], chunked);
      const sized = ['Connection: Content-Length', `Content-Length: ${inner.length}`];
      await server.exchange([`${method} ${PODS} HTTP/1.1`, ...sized], inner);
    }
    const expected = ['GET', 'DELETE', 'POST'].map((method) => `${method} ${PODS} ${inner}`);
    expect(bodies).to.deep.equal(expected.flatMap((body) => [body, body]));
  });
});
