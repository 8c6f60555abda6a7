// Tests of the metadata and the JWK Set of the authorization server.
import { expect } from 'chai';
import { decodeJwt } from 'jose';
import { SCOPES } from '../../../../../apis/oauth/scopes.ts';
import {
  keysHandler,
  metadataHandler,
  metadataOf,
} from '../../../../../server/oauth/endpoints/server-metadata.ts';
import { byPassword } from '../../../../../server/oauth/sessions/proof.ts';
import { TokenIssuer } from '../../../../../server/oauth/tokens/token-issuer.ts';
import { userInfoClaims } from '../../../../../server/oauth/users/user-claims.ts';
import { HandlerServer } from '../../../../support/handler-server.ts';
import { memoryKeyRing } from '../../../../support/oauth/memory-key-ring.ts';
import { newSession } from '../../../../support/oauth/new-session.ts';
import { newClient } from '../../../../support/oauth/oauth-clients.ts';
import { ALICE } from '../../../../support/oauth/signed-in.ts';

const issuer = (): string => 'https://api.example.com/oauth';
const client = { isPublic: false, grants: ['password', 'refresh_token'], scopes: ['openid'] } as const;

const ALWAYS = ['token_endpoint', 'userinfo_endpoint', 'revocation_endpoint', 'end_session_endpoint'];

const endpointsOf = (metadata: object): string[] =>
  Object.keys(metadata).filter((name) => name.endsWith('_endpoint'));

describe('the metadata', () => {
  it('lists only features that some client can use', () => {
    const metadata = metadataOf({ issuer, clients: [client] });
    expect(metadata).to.deep.include({
      issuer: 'https://api.example.com/oauth',
      jwks_uri: 'https://api.example.com/oauth/keys',
      token_endpoint: 'https://api.example.com/oauth/token',
      grant_types_supported: ['password', 'refresh_token'],
      response_types_supported: [],
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
    });
    expect(endpointsOf(metadata)).to.have.members([...ALWAYS, 'introspection_endpoint']);
    expect(metadata).not.to.have.any.keys('code_challenge_methods_supported', 'prompt_values_supported');
    const device = 'urn:ietf:params:oauth:grant-type:device_code';
    const browser = { isPublic: true, grants: ['authorization_code', device], scopes: [] } as const;
    const more = [
      'authorization_endpoint',
      'pushed_authorization_request_endpoint',
      'device_authorization_endpoint',
    ];
    const ofBrowser = metadataOf({ issuer, clients: [browser] });
    expect(endpointsOf(ofBrowser)).to.have.members([...ALWAYS, ...more]);
    expect(ofBrowser.token_endpoint_auth_methods_supported).to.deep.equal(['none']);
  });

  it('lists exactly the claims of ID tokens and of userinfo', async () => {
    const keys = await memoryKeyRing();
    const tokens = new TokenIssuer({ keys, issuer, audience: 'platform' });
    const session = newSession({ authentication: byPassword({ uid: 'p', changedAt: 0 }, 0) });
    const subject = { client: newClient('console'), account: ALICE, session, scopes: SCOPES };
    const token = tokens.idToken(subject, { nonce: 'n', accessToken: 'a' });
    const info = userInfoClaims({ ...ALICE, emailVerified: true }, { scopes: SCOPES, allowed: [] });
    const claims = new Set([...Object.keys(decodeJwt(token)), ...Object.keys(info)]);
    expect([...claims]).to.have.members(metadataOf({ issuer, clients: [client] }).claims_supported);
  });

  it('has an entity tag, and a max-age of minutes', async () => {
    await using server = await new HandlerServer(metadataHandler({ issuer, clients: [client] })).start();
    const { headers } = await server.ask('/');
    const expected = { 'content-type': 'application/json', 'cache-control': 'public, max-age=300' };
    expect(headers).to.include(expected);
    const again = { headers: { 'If-None-Match': headers.etag ?? '' } };
    expect((await server.ask('/', again)).status).to.equal(304);
    expect((await server.ask('/', { method: 'HEAD' })).body).to.have.length(0);
  });
});

describe('the keys endpoint', () => {
  for (const [publishAhead, maxAge] of [
    [600_000, 60],
    [30_000, 15],
  ] as const) {
    it(`has a max-age of ${maxAge} seconds when keys are published ${publishAhead} ms ahead`, async () => {
      const keys = await memoryKeyRing();
      await using server = await new HandlerServer(keysHandler({ keys, publishAhead })).start();
      const response = await server.ask('/oauth/keys');
      expect(response.headers['cache-control']).to.equal(`public, max-age=${maxAge}`);
      expect(JSON.parse(response.body.toString())).to.deep.equal(keys.jwks());
    });
  }
});
