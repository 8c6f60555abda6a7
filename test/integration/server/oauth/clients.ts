// Tests of the OAuth endpoints with independent OAuth clients such as openid-client.
import { expect } from 'chai';
import * as openid from 'openid-client';
import { type OAuthCluster, type OAuthReplica } from './oauth-cluster.ts';

const PASSWORD = 'pässword+with %special& characters';

export function describeClients(subject: () => OAuthCluster): void {
  describe('independent OAuth clients', () => {
    let cluster: OAuthCluster;
    let server: OAuthReplica;

    before(async () => {
      cluster = subject();
      server = await cluster.replica();
      await cluster.addUser('alice', PASSWORD, { email: 'alice@example.com', groups: ['developers'] });
    });
    after(() => cluster.reset());

    for (const [way, authentication] of [
      ['by the Authorization header', openid.ClientSecretBasic('platform')],
      ['by the form', openid.ClientSecretPost('platform')],
    ] as const) {
      describe(`openid-client, authenticating ${way}`, () => {
        let config: openid.Configuration;
        before(async () => {
          config = await openid.discovery(new URL(server.issuer), 'platform', undefined, authentication, {
            [openid.customFetch]: server.fetch,
          });
          config[openid.customFetch] = server.fetch;
        });

        const signIn = () =>
          openid.genericGrantRequest(config, 'password', {
            username: 'alice',
            password: PASSWORD,
            scope: 'openid email',
          });

        it('signs in, reads userinfo, and verifies the ID token with the published keys', async () => {
          const tokens = await signIn();
          expect(tokens.token_type).to.equal('bearer');
          expect(tokens.expiresIn()).to.be.within(7100, 7200);
          expect(tokens.claims()).to.include({ sub: 'alice', email: 'alice@example.com', aud: 'platform' });
          const info = await openid.fetchUserInfo(config, tokens.access_token, 'alice');
          expect(info.email).to.equal('alice@example.com');
        });

        it('refreshes, introspects and revokes', async () => {
          const first = await signIn();
          const second = await openid.refreshTokenGrant(config, first.refresh_token ?? '');
          expect(second.refresh_token).not.to.equal(first.refresh_token);
          expect(await openid.tokenIntrospection(config, second.access_token)).to.include({
            active: true,
            username: 'alice',
          });
          await openid.tokenRevocation(config, second.refresh_token ?? '');
          expect(await openid.tokenIntrospection(config, second.access_token)).to.deep.equal({
            active: false,
          });
        });

        it('understands error responses', async () => {
          const error: unknown = await openid
            .genericGrantRequest(config, 'password', { username: 'alice', password: 'wrong' })
            .catch((reason: unknown) => reason);
          expect(error).to.be.instanceOf(openid.ResponseBodyError);
          expect(error).to.include({ status: 400, error: 'invalid_grant' });
          const stranger = await openid.discovery(
            new URL(server.issuer),
            'platform',
            undefined,
            openid.ClientSecretBasic('wrong'),
            { [openid.customFetch]: server.fetch },
          );
          stranger[openid.customFetch] = server.fetch;
          const refused: unknown = await openid
            .genericGrantRequest(stranger, 'password', { username: 'alice', password: PASSWORD })
            .catch((reason: unknown) => reason);
          expect(refused).to.be.instanceOf(openid.WWWAuthenticateChallengeError);
          expect(refused).to.have.property('status', 401);
        });
      });
    }
  });
}
