// Tests of all grants with openid-client, an independent OAuth client, at two replicas.
import { expect } from 'chai';
import * as openid from 'openid-client';
import { sentBack, Visit } from '../../../support/oauth/sign-in-visit.ts';
import { rejection } from '../../../support/rejection.ts';
import { until } from '../../../support/until.ts';
import { kubectl } from '../../hack/control-plane/programs.ts';
import { type OAuthCluster, type OAuthReplica } from './oauth-cluster.ts';
import { sharedCluster } from './shared-cluster.ts';

const PASSWORD = 'pässword+with %special& characters';
const REDIRECT = 'http://127.0.0.1:4321/callback';

describe('independent OAuth clients', () => {
  let cluster: OAuthCluster;
  let a: OAuthReplica;
  let b: OAuthReplica;
  let config: openid.Configuration;

  before(async () => {
    cluster = await sharedCluster();
    // The user signs in at replica a, and the client requests its tokens from replica b.
    [a, b] = await cluster.replicas();
    await cluster.addUser('alice', PASSWORD, { email: 'alice@example.com', groups: ['developers'] });
    config = await clientOf(openid.ClientSecretPost('platform'));
  });
  after(() => cluster.reset());

  async function clientOf(authentication: openid.ClientAuth): Promise<openid.Configuration> {
    const options = { [openid.customFetch]: b.fetch };
    const issuer = new URL(a.issuer);
    const client = await openid.discovery(issuer, 'platform', undefined, authentication, options);
    return Object.assign(client, options);
  }

  const byPassword = (client: openid.Configuration, password = PASSWORD) =>
    openid.genericGrantRequest(client, 'password', { username: 'alice', password, scope: 'openid' });

  it('get tokens for a code, with all their checks', async () => {
    const pkceCodeVerifier = openid.randomPKCECodeVerifier();
    const [expectedState, expectedNonce] = [openid.randomState(), openid.randomNonce()];
    const { pathname, search } = openid.buildAuthorizationUrl(config, {
      redirect_uri: REDIRECT,
      scope: 'openid email groups',
      code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
      state: expectedState,
      nonce: expectedNonce,
    });
    const visit = new Visit(a, await a.ask(`${pathname}${search}`));
    const callback = new URL(`${REDIRECT}?${sentBack(await visit.signIn('alice', PASSWORD)).toString()}`);
    const checks = { pkceCodeVerifier, expectedState, expectedNonce };
    const tokens = await openid.authorizationCodeGrant(config, callback, checks);
    expect(tokens.claims()).to.include({ sub: 'alice', aud: 'platform' });
    const info = await openid.fetchUserInfo(config, tokens.access_token, 'alice');
    expect(info.email).to.equal('alice@example.com');
    const next = await openid.refreshTokenGrant(config, tokens.refresh_token ?? '');
    expect(next.access_token).not.to.equal(tokens.access_token);
    expect(next.refresh_token).not.to.equal(tokens.refresh_token);
  });

  it('sign in a device without browser', async () => {
    const device = await openid.initiateDeviceAuthorization(config, { scope: 'openid' });
    const waiting = openid.pollDeviceAuthorizationGrant(config, device);
    const page = () => a.ask(`/oauth/device?user_code=${device.user_code.toLowerCase()}`);
    // Replica b creates the request, and replica a receives it by watch.
    await until(async () => (await page()).status === 200);
    const visit = new Visit(a, await page(), '/oauth/device/sign-in');
    expect((await visit.signIn('alice', PASSWORD)).text).to.contain('Device connected');
    expect((await waiting).claims()).to.include({ sub: 'alice', aud: 'platform' });
    const users = ['get', 'sessions', '-o', 'jsonpath={.items[*].spec.user}'];
    expect((await kubectl(cluster.controlPlane, ...users)).split(' ')).not.to.include('-');
  });

  for (const [title, authenticate] of [
    ['the Authorization header', openid.ClientSecretBasic],
    ['the form', openid.ClientSecretPost],
  ] as const) {
    it(`introspect and revoke tokens, and understand errors, with the secret in ${title}`, async () => {
      const client = await clientOf(authenticate('platform'));
      const { access_token, refresh_token = '' } = await byPassword(client);
      const active = { active: true, username: 'alice' };
      expect(await openid.tokenIntrospection(client, access_token)).to.include(active);
      await openid.tokenRevocation(client, refresh_token);
      expect(await openid.tokenIntrospection(client, access_token)).to.deep.equal({ active: false });
      expect(await rejection(byPassword(client, 'wrong')))
        .to.be.instanceOf(openid.ResponseBodyError)
        .and.include({ status: 400, error: 'invalid_grant' });
    });
  }

  it('understand the challenge after a wrong secret in the Authorization header', async () => {
    expect(await rejection(byPassword(await clientOf(openid.ClientSecretBasic('wrong')))))
      .to.be.instanceOf(openid.WWWAuthenticateChallengeError)
      .with.property('status', 401);
  });
});
