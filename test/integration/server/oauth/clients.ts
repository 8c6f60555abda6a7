// Tests of the OAuth endpoints with independent OAuth clients such as openid-client.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import * as openid from 'openid-client';
import { type OAuthCluster, type OAuthReplica } from './oauth-cluster.ts';

const PASSWORD = 'pässword+with %special& characters';
const run = promisify(execFile);

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

    /** fetch that trusts the CA of the test. */
    const customFetch: openid.CustomFetch = async (url, { method, headers, body }) => {
      const response = await server.send(method, url, headers, bodyText(body));
      const given = Object.entries(response.headers).flatMap(([name, value]) =>
        typeof value === 'string' ? [[name, value] as [string, string]] : [],
      );
      return new Response(response.text, { status: response.status, headers: given });
    };

    for (const [way, authentication] of [
      ['by the Authorization header', openid.ClientSecretBasic('platform')],
      ['by the form', openid.ClientSecretPost('platform')],
    ] as const) {
      describe(`openid-client, authenticating ${way}`, () => {
        let config: openid.Configuration;
        before(async () => {
          config = await openid.discovery(new URL(server.issuer), 'platform', undefined, authentication, {
            [openid.customFetch]: customFetch,
          });
          config[openid.customFetch] = customFetch;
        });

        const signIn = () =>
          openid.genericGrantRequest(config, 'password', {
            username: 'alice',
            password: PASSWORD,
            scope: 'openid email',
          });

        it('discovers the endpoints', () => {
          expect(config.serverMetadata().token_endpoint).to.equal(`${server.issuer}/token`);
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
            { [openid.customFetch]: customFetch },
          );
          stranger[openid.customFetch] = customFetch;
          const refused: unknown = await openid
            .genericGrantRequest(stranger, 'password', { username: 'alice', password: PASSWORD })
            .catch((reason: unknown) => reason);
          expect(refused).to.be.instanceOf(openid.WWWAuthenticateChallengeError);
          expect(refused).to.have.property('status', 401);
        });
      });
    }

    it("works with Python's Authlib", async function () {
      this.timeout(660_000);
      const python = await authlib(cluster.dir);
      if (python === undefined) {
        if (process.env['CI'] === 'true') throw new Error('Authlib cannot be installed');
        console.log('      Authlib cannot be installed here: left out');
        this.skip();
      }
      const { stdout } = await run(python, ['-c', AUTHLIB], {
        env: { ISSUER: server.issuer, CA: cluster.caFile, PASSWORD },
      });
      expect(JSON.parse(stdout)).to.deep.equal({
        type: 'Bearer',
        sub: 'alice',
        rotated: true,
        revoked: 200,
        refused: 'invalid_grant',
      });
    });
  });
}

const AUTHLIB = `
import json, os
from authlib.integrations.requests_client import OAuth2Session
issuer, ca = os.environ['ISSUER'], os.environ['CA']
token_url = issuer + '/token'
session = OAuth2Session('platform', 'platform', scope='openid', token_endpoint=token_url)
session.verify = ca
token = session.fetch_token(token_url, username='alice', password=os.environ['PASSWORD'])
info = session.get(issuer + '/userinfo').json()
renewed = session.refresh_token(token_url)
revoked = session.revoke_token(issuer + '/revoke', token=renewed['refresh_token'], token_type_hint='refresh_token')
refused = None
try:
    session.refresh_token(token_url, refresh_token=renewed['refresh_token'])
except Exception as error:
    refused = getattr(error, 'error', str(error))
print(json.dumps({
    'type': token['token_type'], 'sub': info['sub'],
    'rotated': renewed['refresh_token'] != token['refresh_token'],
    'revoked': revoked.status_code, 'refused': refused,
}))
`;

/** Python of a virtual environment with Authlib; undefined when it cannot be installed. */
async function authlib(dir: string): Promise<string | undefined> {
  const environment = join(dir, 'python');
  const python = join(environment, 'bin', 'python');
  try {
    await run('python3', ['-m', 'venv', environment], { timeout: 300_000 });
    await run(python, ['-m', 'pip', 'install', '--quiet', 'authlib==1.6.5', 'requests==2.32.5'], {
      timeout: 300_000,
    });
  } catch {
    return undefined;
  }
  return existsSync(python) ? python : undefined;
}

function bodyText(body: unknown): string {
  if (body === undefined || body === null) return '';
  if (typeof body === 'string') return body;
  if (body instanceof URLSearchParams) return body.toString();
  throw new TypeError('a body that is no text');
}
