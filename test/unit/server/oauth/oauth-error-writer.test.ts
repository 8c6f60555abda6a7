// Tests of the error responses of the OAuth endpoints.
import { expect } from 'chai';
import {
  newNotFound,
  newPathNotFound,
  newServiceUnavailable,
  newTimeout,
  newTooManyRequests,
  newUnauthorized,
} from '../../../../apis/meta/v1/errors.ts';
import { invalidClient, invalidRequest, methodNotAllowed } from '../../../../apis/oauth/oauth-error.ts';
import { oauthErrors } from '../../../../server/oauth/oauth-error-writer.ts';
import { HandlerServer } from '../../../support/handler-server.ts';

const CHALLENGE = 'Bearer realm="oauth", error="invalid_token"';
const RETRY = { 'retry-after': '1' };

describe('an error of the authorization server', () => {
  let error: unknown;
  let server: HandlerServer;
  before(async () => {
    server = await new HandlerServer((context) => oauthErrors.write(context, error)).start();
  });
  after(() => server.close());

  async function respond(
    requestHeaders: Record<string, string> = {},
    method = 'GET',
    path = '/oauth/authorize',
  ) {
    const { status, headers, body } = await server.ask(path, { method, headers: requestHeaders });
    return { status, headers, text: body.toString() };
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

  it('is a page for a browser without Fetch Metadata, as over plain HTTP', async () => {
    error = newPathNotFound();
    const safari = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };
    const { status, text } = await respond(safari, 'GET', '/account/pasword');
    expect(status).to.equal(404);
    expect(text).to.contain('<h1>Page not found</h1>');
  });

  it('is a page that does not change the case of a parameter', async () => {
    error = invalidRequest('redirect_uri is missing');
    expect((await respond(inBrowser)).text).to.contain('>redirect_uri is missing. Go back');
  });

  for (const [path, heading] of [
    ['/oauth/authorize?x=/oauth/logout', 'Sign-in cannot continue'],
    ['/oauth/sign-in', 'Sign-in cannot continue'],
    ['/oauth/logout?state=1', 'Sign-out cannot continue'],
    ['/oauth/device?user_code=1', 'The device cannot be connected'],
    ['/oauth/device/sign-in', 'The device cannot be connected'],
    ['/oauth/token', 'The request is not valid'],
  ] as const) {
    it(`has the title “${heading}” at ${path}`, async () => {
      error = invalidRequest('a parameter is repeated');
      expect((await respond(inBrowser, 'GET', path)).text)
        .to.contain(`<h1>${heading}</h1>`)
        .and.to.contain(`<title>${heading}</title>`);
    });
  }

  it("is a page with the next step for a filter's 404, 429, 503 and 504", async () => {
    for (const refusal of [
      newTooManyRequests('too many', 1),
      newServiceUnavailable('the cluster is unavailable', 1),
      newTimeout('too long', 1),
    ]) {
      error = refusal;
      const { status, headers, text } = await respond(inBrowser);
      expect([status, headers['retry-after']]).to.deep.equal([refusal.code, '1']);
      expect(text).to.contain('<h1>Try again in a moment</h1>').and.not.to.contain('cluster');
    }
    error = newNotFound({ group: '', resource: 'paths' }, '/oauth/devices');
    expect((await respond(inBrowser)).text).to.contain('<h1>Page not found</h1>');
    error = new Error('a secret of the inside');
    const broken = await respond(inBrowser);
    expect(broken.status).to.equal(500);
    expect(broken.text).to.contain('(request ').and.not.to.contain('secret');
  });

  for (const [title, thrown, status, code, header] of [
    ['another path', newPathNotFound(), 404, 'invalid_request', {}],
    ['a rejected token', newUnauthorized(), 401, 'invalid_token', { 'www-authenticate': CHALLENGE }],
    ['the limit of requests in flight', newTooManyRequests('x', 1), 429, 'temporarily_unavailable', RETRY],
  ] as const) {
    it(`has the format of OAuth for ${title}`, async () => {
      error = thrown;
      const { status: responded, headers, text } = await respond();
      expect(responded).to.equal(status);
      expect(JSON.parse(text)).to.have.property('error', code);
      expect(headers).to.include(header);
    });
  }

  it('hides the text of internal errors', async () => {
    error = new Error('a secret of ours');
    const { status, text } = await respond();
    const expected =
      /^\{"error":"server_error","error_description":"an internal error occurred \(request [\w-]+\)"\}$/;
    expect(status).to.equal(500);
    expect(text.trim()).to.match(expected);
  });

  it('is JSON for programs and scripts, even if they accept HTML', async () => {
    error = invalidRequest('a parameter is repeated');
    const expected = { error: 'invalid_request', error_description: 'a parameter is repeated' };
    const java = { accept: 'text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2' };
    for (const client of [{}, java, { 'sec-fetch-mode': 'cors' }]) {
      const { status, headers, text } = await respond(client);
      expect([status, headers['content-type']]).to.deep.equal([400, 'application/json']);
      expect(JSON.parse(text)).to.deep.equal(expected);
    }
  });
});
