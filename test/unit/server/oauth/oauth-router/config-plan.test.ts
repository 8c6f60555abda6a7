// Config plan of the OpenID Foundation's conformance suite.
import { expect } from 'chai';
import type { JWK } from 'jose';
import { calculateJwkThumbprint } from 'jose';
import { ISSUER, SignInSite } from '../../../../support/oauth/sign-in-site.ts';
import { SiteState } from '../../../../support/oauth/sign-in-state.ts';

type Metadata = Readonly<Record<string, unknown>>;

/** Metadata of RFC 8414, OpenID Connect and its logout specifications; any other name is a warning of the suite. */
const REGISTERED =
  /^(?:issuer|jwks_uri|\w+_endpoint|(?:scopes|response_types|response_modes|grant_types|subject_types|claims|acr_values|prompt_values|\w+_auth_methods|id_token_signing_alg_values|code_challenge_methods)_supported|(?:claims|request|request_uri|authorization_response_iss)_parameter_supported|backchannel_logout(?:_session)?_supported)$/;

describe('oidcc-config-certification-test-plan', () => {
  let site: SignInSite;
  before(async () => {
    site = await SignInSite.start(await SiteState.make());
  });
  after(() => site.close());

  async function metadata(): Promise<Metadata> {
    const { status, headers, text } = await site.ask('/oauth/.well-known/openid-configuration');
    expect([status, headers['content-type']]).to.deep.equal([200, 'application/json']);
    return JSON.parse(text) as Metadata;
  }

  it('oidcc-discovery-endpoint-verification: the metadata has all that is required, and only known names', async () => {
    const document = await metadata();
    expect(document).to.include({
      issuer: ISSUER,
      claims_parameter_supported: true,
      authorization_response_iss_parameter_supported: true,
      request_parameter_supported: false,
      request_uri_parameter_supported: false,
    });
    for (const [name, values] of Object.entries({
      response_types_supported: ['code'],
      response_modes_supported: ['query', 'form_post'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256', 'ES256'],
      scopes_supported: ['openid', 'profile', 'email', 'groups'],
      grant_types_supported: ['authorization_code', 'refresh_token'],
      claims_supported: [
        'sub',
        'sid',
        'auth_time',
        'acr',
        'amr',
        'name',
        'email',
        'email_verified',
        'groups',
      ],
      code_challenge_methods_supported: ['S256'],
      acr_values_supported: ['1fa', 'mfa'],
      prompt_values_supported: ['none', 'login', 'select_account', 'consent'],
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'none'],
    })) {
      expect(document[name], name).to.include.members(values);
    }
    for (const name of ['authorization_endpoint', 'token_endpoint', 'userinfo_endpoint', 'jwks_uri']) {
      expect(document, name).to.have.property(name);
    }
    for (const [name, value] of Object.entries(document)) {
      expect(name).to.match(REGISTERED);
      if (/_endpoint$|_uri$|^issuer$/.test(name))
        expect(value, name).to.match(/^https:\/\/sso\.example\.com\/oauth/);
    }
  });

  it('oidcc-discovery-endpoint-verification: the JWK Set has public keys for signatures, each with a kid of its own', async () => {
    const { text } = await site.ask(new URL(String((await metadata())['jwks_uri'])).pathname);
    const { keys } = JSON.parse(text) as { keys: JWK[] };
    expect(keys.map(({ alg }) => alg)).to.include.members(['RS256', 'ES256']);
    expect(new Set(keys.map(({ kid }) => kid)).size).to.equal(keys.length);
    for (const key of keys) {
      expect(key).to.include({ use: 'sig' }).and.to.not.have.any.keys('d', 'p', 'q', 'dp', 'dq', 'qi', 'k');
      expect(key.kid).to.equal(await calculateJwkThumbprint(key));
    }
  });
});
