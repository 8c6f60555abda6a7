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
import { until } from '../../../../support/until.ts';
import { ask, type ChainFixture, startChain } from '../../filters/chain-fixture.ts';

const CLIENT = { client_id: 'platform', client_secret: 'platform' };
const BROWSER = { client_id: 'browser', client_secret: 'browser' };
const clients = [newClient('platform'), newClient('browser', { grants: ['authorization_code'] })];

const TOKENS = { access_token: 'a', token_type: 'Bearer', refresh_token: 'r', expires_in: 7200 } as const;
const UNCACHED = { 'cache-control': 'no-store', pragma: 'no-cache' };

class PlayedGrant implements Grant {
  readonly requests: TokenRequest[] = [];
  failure: Error | undefined;
  pending: Promise<void> | undefined;

  async exchange(request: TokenRequest) {
    this.requests.push(request);
    await this.pending;
    if (this.failure) throw this.failure;
    return TOKENS;
  }
}

describe('POST /oauth/token', () => {
  const grant = new PlayedGrant();
  const metrics = new Registry();
  let now = 0;
  const checks: string[] = [];
  let server: ChainFixture;
  before(async () => {
    server = await startChain({
      handler: tokenHandler({
        clients: {
          get: (id) => clients.find((client) => client.id === id),
          checkSecret: (id, secret) => {
            checks.push(secret);
            return id === secret;
          },
        },
        grants: { ...NO_GRANTS, password: grant },
        sourceOf: (incoming) => String(incoming.headers['x-source'] ?? '192.0.2.1'),
        monotonic: () => now,
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
    grant.pending = undefined;
    grant.requests.length = 0;
    checks.length = 0;
    now += 10_000;
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

  describe('repeated with the other method of client authentication, as by golang.org/x/oauth2', () => {
    const form = { grant_type: 'password', username: 'alice', password: 'wrong' };
    const inHeader = (more = {}, headers = {}) =>
      request({ ...form, ...more }, { ...basic('platform', 'platform'), ...headers });
    const inForm = (more = {}, headers = {}) => request({ ...form, ...CLIENT, ...more }, headers);

    it('counts a failed request once, and gets the same error', async () => {
      for (const [first, second] of [
        [inHeader, inForm],
        [inForm, inHeader],
      ] as const) {
        now += 1001;
        grant.requests.length = 0;
        grant.failure = invalidGrant('wrong');
        const { json } = await first();
        grant.failure = invalidGrant('another');
        expect((await second()).json).to.deep.equal(json);
        expect(grant.requests).to.have.length(1);
      }
    });

    it('counts a wrong client secret once', async () => {
      const wrong = await request(form, basic('platform', 'wrong'));
      checks.length = 0;
      const again = await request({ ...form, client_id: 'platform', client_secret: 'wrong' });
      expect([wrong.status, again.status, checks]).to.deep.equal([401, 401, []]);
      expect((await inForm()).status).to.equal(200);
    });

    it('counts once while the first request is pending', async () => {
      const first = Promise.withResolvers<void>();
      grant.pending = first.promise;
      grant.failure = invalidGrant('wrong');
      const both = [inHeader(), inForm()];
      await until(() => grant.requests.length > 0);
      first.resolve();
      expect((await Promise.all(both)).map(({ status }) => status)).to.deep.equal([400, 400]);
      expect(grant.requests).to.have.length(1);
    });

    for (const [difference, more, headers, wait] of [
      ['another password', { password: 'guess' }, {}, 0],
      ['another user', { username: 'bob' }, {}, 0],
      ['another parameter', { scope: 'openid' }, {}, 0],
      ['another client secret', { client_secret: 'x' }, {}, 0],
      ['another address', {}, { 'x-source': '198.51.100.7' }, 0],
      ['a second later', {}, {}, 1001],
    ] as const) {
      it(`counts twice with ${difference}`, async () => {
        grant.failure = invalidGrant('wrong');
        await inHeader();
        now += wait;
        checks.length = 0;
        await inForm(more, headers);
        expect(checks).to.have.length(1);
      });
    }

    it('is evaluated after a success, a delay and an outage, and in the same method', async () => {
      for (const failure of [undefined, tooManyAttempts(7), newServiceUnavailable('not now')]) {
        grant.failure = failure;
        grant.requests.length = 0;
        await inHeader();
        await inForm();
        expect(grant.requests, String(failure)).to.have.length(2);
      }
      grant.failure = invalidGrant('wrong');
      grant.requests.length = 0;
      await inHeader();
      await inHeader();
      expect(grant.requests).to.have.length(2);
    });
  });

  it('ignores an unknown parameter that is repeated, and explains an empty body', async () => {
    const form = new URLSearchParams({ grant_type: 'password', ...CLIENT, username: 'alice' }).toString();
    expect((await request(`${form}&resource=a&resource=b`)).status).to.equal(200);
    const twice = await request(`${form}&grant_type=password`);
    expect(twice.json['error_description']).to.equal('the parameter grant_type is repeated');
    expect((await request('')).json['error_description']).to.equal(
      `grant_type is missing; must be one of ${GRANT_TYPES.join(', ')}`,
    );
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
