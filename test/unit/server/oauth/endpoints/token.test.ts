// Tests of the token endpoint.
import { expect } from 'chai';
import { Registry } from 'prom-client';
import { newServiceUnavailable } from '../../../../../apis/meta/v1/errors.ts';
import { GRANT_TYPES } from '../../../../../apis/oauth/grant-types.ts';
import { invalidGrant, tooManyAttempts } from '../../../../../apis/oauth/oauth-error.ts';
import { tokenHandler } from '../../../../../server/oauth/endpoints/token.ts';
import type { Grant, TokenRequest } from '../../../../../server/oauth/grants/grant.ts';
import { oauthErrors } from '../../../../../server/oauth/oauth-error-writer.ts';
import { OAuthMetrics } from '../../../../../server/oauth/oauth-metrics.ts';
import { NO_GRANTS } from '../../../../support/oauth/no-grants.ts';
import { newClient } from '../../../../support/oauth/oauth-clients.ts';
import { basic, type PostedForm } from '../../../../support/oauth/oauth-endpoint.ts';
import { ask, type ChainFixture, startChain } from '../../filters/chain-fixture.ts';

const CLIENT = { client_id: 'platform', client_secret: 'platform' };
const BROWSER = { client_id: 'browser', client_secret: 'browser' };
const clients = [newClient('platform'), newClient('browser', { grants: ['authorization_code'] })];

const TOKENS = { access_token: 'a', token_type: 'Bearer', refresh_token: 'r', expires_in: 7200 } as const;
const UNCACHED = { 'cache-control': 'no-store', pragma: 'no-cache' };

class PlayedGrant implements Grant {
  readonly requests: TokenRequest[] = [];
  failure: Error | undefined;

  async exchange(request: TokenRequest) {
    this.requests.push(request);
    if (this.failure) throw this.failure;
    return TOKENS;
  }
}

describe('POST /oauth/token', () => {
  const grant = new PlayedGrant();
  const metrics = new Registry();
  let server: ChainFixture;
  before(async () => {
    server = await startChain({
      handler: tokenHandler({
        clients: {
          get: (id) => clients.find((client) => client.id === id),
          checkSecret: (id, secret) => id === secret,
        },
        grants: { ...NO_GRANTS, password: grant },
        sourceOf: (incoming) => String(incoming.headers['x-source'] ?? '192.0.2.1'),
        metrics: new OAuthMetrics(metrics),
      }),
      authorizer: { authorize: () => ({ allowed: true, reason: '' }) },
      limits: { maxBodyBytes: 1 << 20, timeoutMs: 60_000 },
      errorFamilies: [oauthErrors],
    });
  });
  after(() => server.stop());
  beforeEach(() => {
    grant.failure = undefined;
    grant.requests.length = 0;
  });

  async function request(form: PostedForm, headers = {}, method = 'POST', query = '') {
    const body = typeof form === 'string' ? form : new URLSearchParams(form).toString();
    const type = { 'content-type': 'application/x-www-form-urlencoded' };
    const response = await ask(server, `/oauth/token${query}`, {
      method,
      headers: { ...type, ...headers },
      body,
    });
    const json = JSON.parse(response.body || '{}') as Readonly<Record<string, unknown>>;
    return { ...response, json };
  }

  it('responds as RFC 6749, 5.1 specifies, without caching', async () => {
    const form = { grant_type: 'password', ...CLIENT, username: 'älice' };
    const { status, headers, json } = await request(form, { 'user-agent': 'curl/8' });
    const [exchanged] = grant.requests;
    expect(exchanged).to.deep.include({ client: clients[0], source: '192.0.2.1', userAgent: 'curl/8' });
    expect(exchanged?.form.get('username')).to.equal('älice');
    expect(status).to.equal(200);
    expect(json).to.deep.equal(TOKENS);
    expect(headers).to.include({ 'content-type': 'application/json', ...UNCACHED });
  });

  for (const [what, form, status, error] of [
    ['no grant type', CLIENT, 400, 'invalid_request'],
    ['an unknown grant type', { ...CLIENT, grant_type: 'magic' }, 400, 'unsupported_grant_type'],
    ['no client', { grant_type: 'password' }, 401, 'invalid_client'],
    ['a wrong secret', { ...CLIENT, grant_type: 'password', client_secret: 'x' }, 401, 'invalid_client'],
    ['a client without the grant', { ...BROWSER, grant_type: 'password' }, 400, 'unauthorized_client'],
    ['a repeated parameter', 'grant_type=password&grant_type=password', 400, 'invalid_request'],
  ] as const) {
    it(`returns ${status} ${error} for ${what}`, async () => {
      const response = await request(form, {}, 'POST', '?grant_type=password');
      expect([response.status, response.json['error']]).to.deep.equal([status, error]);
      expect(response.headers).to.include(UNCACHED);
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

  it('returns 415 for JSON', async () => {
    const response = await request(JSON.stringify(CLIENT), { 'content-type': 'application/json' });
    expect([response.status, response.json['error']]).to.deep.equal([415, 'invalid_request']);
  });

  it('closes the connection after an unread body', async () => {
    const kept = { connection: 'keep-alive' };
    const unread = await request('{}'.padEnd(500_000), { ...kept, 'content-type': 'application/json' });
    expect(unread.headers.connection).to.equal('close');
    expect((await request(CLIENT, kept)).headers.connection).to.equal('keep-alive');
  });

  it('returns 413 in OAuth form for a large form, also from a filter', async () => {
    for (const size of [70_000, 2_000_000]) {
      const response = await request(`a=${'x'.repeat(size)}`);
      expect([response.status, response.json['error']]).to.deep.equal([413, 'invalid_request']);
    }
  });

  it('ignores an unknown parameter that is repeated, and explains an empty body', async () => {
    const form = new URLSearchParams({ grant_type: 'password', ...CLIENT, username: 'alice' }).toString();
    expect((await request(`${form}&resource=a&resource=b`)).status).to.equal(200);
    const accepted = GRANT_TYPES.join(', ');
    for (const [body, description] of [
      [`${form}&grant_type=password`, 'the parameter grant_type is repeated'],
      ['', `grant_type is missing; must be one of ${accepted}`],
      ['grant_type=pa55word', `grant_type must be one of ${accepted}`],
    ] as const) {
      expect((await request(body)).json['error_description']).to.equal(description);
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
});
