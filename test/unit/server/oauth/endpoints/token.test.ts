// Tests of the token endpoint.
import { expect } from 'chai';
import { Registry } from 'prom-client';
import {
  newPathNotFound,
  newServiceUnavailable,
  newUnauthorized,
} from '../../../../../apis/meta/v1/errors.ts';
import { invalidGrant, tooManyAttempts } from '../../../../../apis/oauth/errors.ts';
import { tokenHandler } from '../../../../../server/oauth/endpoints/token.ts';
import { oauthErrors } from '../../../../../server/oauth/error-writer.ts';
import type { Grant, TokenRequest } from '../../../../../server/oauth/grants/grant.ts';
import { OAuthMetrics } from '../../../../../server/oauth/oauth-metrics.ts';
import type { Handler } from '../../../../../server/request/request-context.ts';
import { newClient } from '../../../../support/oauth/oauth-clients.ts';
import { basic, type PostedForm } from '../../../../support/oauth/oauth-endpoint.ts';
import { ask, type ChainFixture, startChain } from '../../filters/chain-fixture.ts';

const TOKEN = '/oauth/token';
const CLIENT = { client_id: 'platform', client_secret: 'platform' };
const clients = [newClient('platform'), newClient('browser', { grants: ['authorization_code'] })];

class PlayedGrant implements Grant {
  readonly type = 'password';
  readonly requests: TokenRequest[] = [];
  failure: Error | undefined;

  async exchange(request: TokenRequest) {
    this.requests.push(request);
    if (this.failure) throw this.failure;
    return { access_token: 'a', token_type: 'Bearer', refresh_token: 'r', expires_in: 7200 } as const;
  }
}

describe('POST /oauth/token', () => {
  const grant = new PlayedGrant();
  const metrics = new Registry();
  const slow = Promise.withResolvers<void>();
  const token = tokenHandler({
    clients: {
      get: (id) => clients.find((client) => client.id === id),
      checkSecret: (id, secret) => id === secret,
    },
    grants: [grant],
    sourceOf: () => '192.0.2.1',
    metrics: new OAuthMetrics(metrics),
  });
  const handlers: Record<string, Handler> = {
    [TOKEN]: token,
    '/oauth/slow': ({ response }) => slow.promise.then(() => void response.end('{}')),
    '/oauth/broken': () => Promise.reject(new Error('a secret of ours')),
    '/oauth/refused': () => Promise.reject(newUnauthorized()),
  };
  let server: ChainFixture;
  before(async () => {
    server = await startChain({
      handler: (context) => {
        const handler = handlers[context.info.path];
        if (!handler) throw newPathNotFound();
        return handler(context);
      },
      authorizer: { authorize: () => ({ allowed: true, reason: '' }) },
      limits: { maxReadOnly: 0, maxMutating: 1, maxLongRunning: 0, maxBodyBytes: 1 << 20, timeoutMs: 60_000 },
      errorFamilies: [oauthErrors],
    });
  });
  after(() => server.stop());
  beforeEach(() => {
    grant.failure = undefined;
    grant.requests.length = 0;
  });

  async function post(path: string, form: PostedForm, headers = {}, method = 'POST') {
    const body = typeof form === 'string' ? form : new URLSearchParams(form).toString();
    const type = { 'content-type': 'application/x-www-form-urlencoded' };
    const response = await ask(server, path, { method, headers: { ...type, ...headers }, body });
    const json = JSON.parse(response.body || '{}') as Readonly<Record<string, unknown>>;
    return { ...response, json };
  }
  const request = (form: PostedForm, headers = {}) => post(TOKEN, form, headers);

  it('responds as RFC 6749, 5.1 specifies, without caching', async () => {
    const form = { grant_type: 'password', ...CLIENT, username: 'älice' };
    const { status, headers, json } = await request(form, { 'user-agent': 'curl/8' });
    const [exchanged] = grant.requests;
    expect(exchanged).to.deep.include({ client: clients[0], source: '192.0.2.1', userAgent: 'curl/8' });
    expect(exchanged?.form.get('username')).to.equal('älice');
    expect(status).to.equal(200);
    expect(json).to.deep.equal({
      access_token: 'a',
      token_type: 'Bearer',
      refresh_token: 'r',
      expires_in: 7200,
    });
    expect(headers).to.include({
      'content-type': 'application/json',
      'cache-control': 'no-store',
      pragma: 'no-cache',
    });
  });

  for (const [what, form, status, error] of [
    ['no grant type', CLIENT, 400, 'invalid_request'],
    ['an unknown grant type', { ...CLIENT, grant_type: 'magic' }, 400, 'unsupported_grant_type'],
    ['no client', { grant_type: 'password' }, 401, 'invalid_client'],
    ['a wrong secret', { ...CLIENT, grant_type: 'password', client_secret: 'x' }, 401, 'invalid_client'],
    [
      'a client without the grant',
      { grant_type: 'password', client_id: 'browser', client_secret: 'browser' },
      400,
      'unauthorized_client',
    ],
    ['a repeated parameter', 'grant_type=password&grant_type=password', 400, 'invalid_request'],
  ] as const) {
    it(`returns ${status} ${error} for ${what}`, async () => {
      const response = await post(`${TOKEN}?grant_type=password`, form);
      expect([response.status, response.json['error']]).to.deep.equal([status, error]);
      expect(response.headers).to.include({ 'cache-control': 'no-store', pragma: 'no-cache' });
      expect(response.headers).not.to.have.property('www-authenticate');
      expect(response.json['error_description']).to.match(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/);
      expect(grant.requests).to.have.length(0);
    });
  }

  it('adds a challenge when the client used the Authorization header', async () => {
    const response = await request({ grant_type: 'password' }, basic('platform', 'wrong'));
    expect([response.status, response.json['error']]).to.deep.equal([401, 'invalid_client']);
    expect(response.headers['www-authenticate']).to.match(/^Basic realm=/);
  });

  it('returns 405 with Allow for other methods, and 415 for JSON', async () => {
    for (const method of ['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS']) {
      const response = await post(`${TOKEN}?grant_type=password&client_id=platform`, '', {}, method);
      expect([response.status, response.headers.allow], method).to.deep.equal([405, 'POST']);
      expect(response.headers['cache-control']).to.equal('no-store');
    }
    const response = await request(JSON.stringify(CLIENT), { 'content-type': 'application/json' });
    expect([response.status, response.json['error']]).to.deep.equal([415, 'invalid_request']);
  });

  it('closes the connection after an unread body', async () => {
    const kept = { connection: 'keep-alive' };
    const unread = await request('{}'.padEnd(100), { ...kept, 'content-type': 'application/json' });
    expect(unread.headers.connection).to.equal('close');
    expect((await request(CLIENT, kept)).headers.connection).to.equal('keep-alive');
  });

  it('returns 413 in OAuth form for a large form, also from a filter', async () => {
    for (const size of [70_000, 2_000_000]) {
      const response = await request(`a=${'x'.repeat(size)}`);
      expect([response.status, response.json['error']]).to.deep.equal([413, 'invalid_request']);
    }
  });

  it('writes the errors of a grant with their headers', async () => {
    const form = { grant_type: 'password', ...CLIENT };
    grant.failure = invalidGrant('wrong', new Error('it was the password'));
    expect((await request(form)).json).to.deep.equal({ error: 'invalid_grant', error_description: 'wrong' });
    for (const [failure, expected] of [
      [tooManyAttempts(7), [429, 'invalid_grant', '7']],
      [newServiceUnavailable('the cluster is unavailable', 3), [503, 'temporarily_unavailable', '3']],
    ] as const) {
      grant.failure = failure;
      const { status, json, headers } = await request(form);
      expect([status, json['error'], headers['retry-after']]).to.deep.equal(expected);
    }
  });

  it('counts requests by supported grant and error only', async () => {
    const text = await metrics.metrics();
    expect(text).to.include('oauth_token_requests_total{grant_type="password",error=""}');
    expect(text).to.include('oauth_token_requests_total{grant_type="",error="unsupported_grant_type"}');
    expect(text).not.to.include('magic');
  });

  it('hides the text of internal errors', async () => {
    const { status, json } = await post('/oauth/broken', {});
    expect([status, json['error']]).to.deep.equal([500, 'server_error']);
    expect(json['error_description']).to.match(/^an internal error occurred \(request [\w-]+\)$/);
    expect((await post('/oauth/nothing', {})).json['error']).to.equal('invalid_request');
  });

  it('adds a challenge when a filter rejects a bearer token', async () => {
    const { status, json, headers } = await post('/oauth/refused', {});
    expect([status, json['error']]).to.deep.equal([401, 'invalid_token']);
    expect(headers['www-authenticate']).to.include('error="invalid_token"');
  });

  it('returns 429 in OAuth form at the limit of requests in flight', async () => {
    const first = post('/oauth/slow', {});
    // The first request may not have arrived yet, so the second one is repeated.
    let response = await post('/oauth/slow-too', {});
    while (response.status !== 429) response = await post('/oauth/slow-too', {});
    expect(response.json['error']).to.equal('temporarily_unavailable');
    expect(response.headers['retry-after']).to.equal('1');
    slow.resolve();
    await first;
  });
});
