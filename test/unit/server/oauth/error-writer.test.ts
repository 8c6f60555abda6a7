// Tests of the error responses of the OAuth endpoints.
import { expect } from 'chai';
import {
  newNotFound,
  newServiceUnavailable,
  newTimeout,
  newTooManyRequests,
} from '../../../../apis/meta/v1/errors.ts';
import { invalidClient, invalidRequest, methodNotAllowed } from '../../../../apis/oauth/errors.ts';
import { oauthErrors } from '../../../../server/oauth/error-writer.ts';
import { HandlerServer } from '../../../support/handler-server.ts';

describe('an error of the authorization server', () => {
  let error: unknown;
  let server: HandlerServer;
  before(async () => {
    server = await new HandlerServer((context) => oauthErrors.write(context, error)).start();
  });
  after(() => server.close());

  async function respond(headers: Record<string, string> = {}, method = 'GET') {
    const { status, headers: responded, body } = await server.ask('/oauth/x', { method, headers });
    return { status, headers: responded, text: body.toString() };
  }
  const inBrowser = { 'sec-fetch-mode': 'navigate', accept: 'text/html' };

  it('is a page with status and headers for a browser navigation', async () => {
    error = invalidRequest('a parameter is repeated');
    const { status, headers, text } = await respond(inBrowser);
    expect(status).to.equal(400);
    expect(headers['content-type']).to.equal('text/html; charset=utf-8');
    expect(headers['content-security-policy']).to.contain("default-src 'none'");
    expect(headers['cache-control']).to.equal('no-store');
    expect(text).to.contain('<h1>Sign-in cannot continue</h1>').and.to.contain('A parameter is repeated.');
    error = methodNotAllowed('POST');
    expect((await respond(inBrowser)).headers.allow).to.equal('POST');
    error = invalidClient(true);
    expect((await respond(inBrowser)).headers['www-authenticate']).to.match(/^Basic /);
    const head = await respond(inBrowser, 'HEAD');
    expect([head.status, head.text]).to.deep.equal([401, '']);
  });

  it("is a page with the next step for a filter's 404, 429, 503 and 504", async () => {
    for (const [refusal, status] of [
      [newTooManyRequests('too many', 1), 429],
      [newServiceUnavailable('the cluster is unavailable', 1), 503],
      [newTimeout('too long', 1), 504],
    ] as const) {
      error = refusal;
      const response = await respond(inBrowser);
      expect(response.status).to.equal(status);
      expect(response.headers['retry-after']).to.equal('1');
      expect(response.text).to.contain('<h1>Try again in a moment</h1>').and.not.to.contain('cluster');
    }
    error = newNotFound({ group: '', resource: 'paths' }, '/oauth/devices');
    expect((await respond(inBrowser)).text).to.contain('<h1>Page not found</h1>');
    error = new Error('a secret of the inside');
    const broken = await respond(inBrowser);
    expect(broken.status).to.equal(500);
    expect(broken.text).to.contain('(request ').and.not.to.contain('secret');
  });

  it('is JSON for programs and scripts, even if they accept HTML', async () => {
    error = invalidRequest('a parameter is repeated');
    for (const headers of [
      {},
      { accept: 'text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2' },
      { 'sec-fetch-mode': 'cors' },
    ]) {
      const { status, headers: responded, text } = await respond(headers);
      expect(status).to.equal(400);
      expect(responded['content-type']).to.equal('application/json');
      expect(JSON.parse(text)).to.deep.equal({
        error: 'invalid_request',
        error_description: 'a parameter is repeated',
      });
    }
  });
});
