// Tests of the routes of the authorization server: paths and methods.
import { expect } from 'chai';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { decodeConfiguration } from '../../../../apis/config/v1alpha1/decode.ts';
import { Admission } from '../../../../server/admission/admission.ts';
import type { ClusterClient } from '../../../../server/cluster/connection/client.ts';
import { SharedSecret } from '../../../../server/cluster/secrets/shared-secret.ts';
import { newOAuth, type OAuth } from '../../../../server/oauth/oauth.ts';
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

const unexpected = (): Promise<never> => Promise.reject(new Error('unexpected'));

function oauthWith(client: ClusterClient): OAuth {
  const settings = oauthSettings(decodeConfiguration(undefined, []));
  if (!settings) throw new Error('the authorization server is turned off');
  const log = pino({ level: 'silent' });
  return newOAuth({
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
}

describe('the routes of the authorization server', () => {
  let server: ChainFixture;

  before(async () => {
    const oauth = oauthWith({ open: unexpected, json: unexpected });
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

  it('include one style sheet, with the style of all pages before the one of these pages', async () => {
    const { headers, body } = await ask(server, '/oauth/page.css');
    expect(headers['cache-control']).to.equal('public, max-age=300');
    expect(body.indexOf('--accent: ')).to.be.within(0, body.indexOf('.qr {'));
  });

  it('return 404 for paths that are written in another way', async () => {
    for (const path of ['/oauth', '/oauth/', '/oauth/Token', '/oauth/token/', '/oauth/%74oken', '/oauth/x']) {
      expect((await ask(server, path)).status, path).to.equal(404);
    }
  });
});

describe('the first administrator of several replicas', () => {
  /** The paths that a replica requests, until it has requested the Lease `times` times. */
  async function requested(holderIdentity: string, times: number): Promise<string[]> {
    const stop = new AbortController();
    const paths: string[] = [];
    const json = ({ path }: { path: string }): Promise<unknown> => {
      paths.push(path);
      if (isSecret(path) || paths.filter(isLease).length === times) stop.abort();
      if (!isLease(path)) return unexpected();
      const spec = { holderIdentity, leaseDurationSeconds: 15, leaseTransitions: 0 };
      return Promise.resolve({ metadata: { name: 'ks-apiserver', resourceVersion: '1' }, spec });
    };
    await oauthWith({ open: unexpected, json }).run(stop.signal);
    return paths;
  }
  const isSecret = (path: string): boolean => path.endsWith('/secrets/ks-apiserver-admin');
  const isLease = (path: string): boolean => path.includes('/leases');

  it('is created by the leader', async () => {
    expect((await requested('test', 3)).filter(isSecret)).to.have.length(1);
  });

  it('is not recreated by another replica after its deletion', async () => {
    expect((await requested('another', 2)).filter(isSecret)).to.deep.equal([]);
  });
});
