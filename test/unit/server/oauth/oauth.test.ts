// Tests of the routes of the authorization server: paths and methods.
import { expect } from 'chai';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { decodeConfiguration } from '../../../../apis/config/v1alpha1/decode.ts';
import { Admission } from '../../../../server/admission/admission.ts';
import { SharedSecret } from '../../../../server/cluster/secrets/shared-secret.ts';
import { newOAuth } from '../../../../server/oauth/oauth.ts';
import { oauthSettings } from '../../../../server/oauth/settings.ts';
import { onlyFeature } from '../../../support/routed.ts';
import { ask, type ChainFixture, startChain } from '../filters/chain-fixture.ts';

/** The methods of each path, as in the header Allow. */
const PATHS: Readonly<Record<string, string>> = {
  '/oauth/token': 'POST',
  '/oauth/par': 'POST',
  '/oauth/revoke': 'POST',
  '/oauth/introspect': 'POST',
  '/oauth/userinfo': 'GET, HEAD, POST',
  '/oauth/logout': 'GET, POST',
  '/oauth/keys': 'GET, HEAD',
  '/oauth/.well-known/openid-configuration': 'GET, HEAD',
  '/.well-known/oauth-authorization-server/oauth': 'GET, HEAD',
  '/oauth/authorize': 'GET, POST',
  '/oauth/sign-in': 'POST',
  '/oauth/device_authorization': 'POST',
  '/oauth/device': 'GET',
  '/oauth/device/sign-in': 'POST',
  '/oauth/callback/company': 'GET',
  '/account': 'GET',
  '/account/switch': 'GET',
  '/oauth/page.css': 'GET, HEAD',
};

describe('the routes of the authorization server', () => {
  let server: ChainFixture;

  before(async () => {
    const settings = oauthSettings(decodeConfiguration(undefined, []));
    if (!settings) throw new Error('the authorization server is turned off');
    const unexpected = (): Promise<never> => Promise.reject(new Error('unexpected'));
    const client = { open: unexpected, json: unexpected };
    const log = pino({ level: 'silent' });
    const oauth = newOAuth({
      settings,
      platform: { name: 'platform', namespace: 'platform-system' },
      issuer: () => 'https://issuer.example/oauth',
      client,
      secret: new SharedSecret({ client, namespace: 'platform-system', name: 'keys', log }),
      admission: new Admission(),
      lookups: new Admission().lookups(),
      identity: 'test',
      machine: { cores: 2, threads: 4 },
      log,
      metrics: new Registry(),
    });
    server = await startChain({
      handler: () => undefined,
      routers: onlyFeature(oauth.router),
      authorizer: { authorize: () => ({ allowed: true, reason: '' }) },
      errorFamilies: [oauth.errorFamily],
    });
  });
  after(() => server.stop());

  for (const [path, allowed] of Object.entries(PATHS)) {
    it(`reject other methods than ${allowed} of ${path}, uncached`, async () => {
      for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS']) {
        const { status, headers } = await ask(server, path, { method });
        if (allowed.split(', ').includes(method)) expect(status, method).to.not.be.oneOf([404, 405]);
        else {
          expect([status, headers['allow']], method).to.deep.equal([405, allowed]);
          expect(headers['cache-control'], method).to.equal('no-store');
        }
      }
    });
  }

  it('return 404 for paths that are written in another way', async () => {
    for (const path of ['/oauth', '/oauth/', '/oauth/Token', '/oauth/token/', '/oauth/%74oken', '/oauth/x']) {
      expect((await ask(server, path)).status, path).to.equal(404);
    }
  });
});
