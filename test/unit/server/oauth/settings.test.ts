// Tests of the settings of the authorization server.
import { expect } from 'chai';
import { ConfigurationError } from '../../../../apis/config/v1alpha1/configuration-error.ts';
import { decodeConfiguration } from '../../../../apis/config/v1alpha1/decode.ts';
import { oauthSettings } from '../../../../server/oauth/settings.ts';
import { issuerOf } from '../../../../server/oauth/tokens/token-issuer.ts';

const DEFAULT = 'https://localhost:9443/oauth';

function configuration(oauth: string) {
  const text = `apiVersion: config.platform.io/v1alpha1\nkind: APIServerConfiguration\noauth: ${oauth}\n`;
  return decodeConfiguration({ source: 'config.yaml', text });
}

describe('oauthSettings', () => {
  it("has the default client with the platform's name as id and secret", () => {
    const settings = oauthSettings(configuration('{}'));
    expect(oauthSettings(configuration('{enabled: false}'))).to.equal(undefined);
    expect(settings?.clients[0]).to.deep.include({
      id: 'platform',
      wellKnownSecret: 'platform',
      isPublic: false,
      requiresPKCE: true,
      accessTokenLifetime: 7200,
      refreshIdleLifetime: 604_800,
      sessionLifetime: 2_592_000,
    });
    expect(settings?.audience).to.equal('platform');
  });

  it('requires PKCE and rotation unless the client is configured otherwise', () => {
    const strict = '{id: a, secretFiles: [/x]}';
    const lenient = '{id: b, secretFiles: [/x], pkce: optional, refreshTokens: kept}';
    const settings = oauthSettings(configuration(`{clients: [${strict}, ${lenient}]}`));
    const [a, b] = settings?.clients ?? [];
    expect(a).to.include({ requiresPKCE: true, rotatesRefreshTokens: true });
    expect(b).to.include({ requiresPKCE: false, rotatesRefreshTokens: false });
  });

  it('has no client for the pages and for command-line programs beside a configured one of that id', () => {
    const ids = ['openapi-page', 'explore', 'kubectl'];
    const configured = ids.map((id) => `{id: ${id}, public: true, grants: []}`);
    const settings = oauthSettings(configuration(`{clients: [${configured.join()}]}`));
    expect(settings?.clients.map(({ id }) => id)).to.deep.equal(ids);
    expect(settings?.clients.map(({ grants }) => grants)).to.deep.equal([[], [], []]);
  });

  const clientOf = (id: string, oauth: string) =>
    oauthSettings(configuration(oauth))?.clients.find((client) => client.id === id);

  it('has a client with the authorization_code grant only for the OpenAPI page', () => {
    expect(clientOf('openapi-page', '{clients: [{id: a, public: true}]}')).to.deep.include({
      isPublic: true,
      requiresPKCE: true,
      grants: ['authorization_code'],
      wellKnownSecret: undefined,
    });
  });

  for (const [issuer, ...origins] of [
    ['https://api.example.com:8443/oauth', 'https://api.example.com:8443'],
    ['https://localhost:9443/oauth', 'https://localhost:9443', 'https://127.0.0.1:9443'],
    ['https://127.0.0.1:1234/oauth', 'https://127.0.0.1:1234', 'https://localhost:1234'],
  ] as const) {
    it(`has redirect URIs of the OpenAPI page for the issuer ${issuer}, with both names of a local server`, () => {
      const client = clientOf('openapi-page', issuer === DEFAULT ? '{}' : `{issuer: "${issuer}"}`);
      const uris = origins.map((origin) => `${origin}/openapi/page/oauth2-redirect.html`);
      expect(client?.redirectURIs).to.deep.equal(uris);
    });
  }

  it('has a client for the page /explore, whose codes are redirected only to the issuer', () => {
    expect(clientOf('explore', '{issuer: "https://api.example.com:8443/oauth"}')).to.deep.include({
      isPublic: true,
      requiresPKCE: true,
      grants: ['authorization_code'],
      redirectURIs: ['https://api.example.com:8443/explore/callback'],
      postLogoutRedirectURIs: ['https://api.example.com:8443/explore'],
    });
  });

  it('has no client for a page that is not served', () => {
    const settings = oauthSettings({ ...configuration('{}'), explore: { enabled: false } });
    expect(settings?.clients.map(({ id }) => id)).to.not.include('explore');
  });

  it('has a public client with loopback redirect URIs and without a password grant for command-line programs', () => {
    for (const oauth of ['{}', '{clients: [{id: a, public: true}]}']) {
      expect(clientOf('kubectl', oauth)).to.deep.include({
        isPublic: true,
        requiresPKCE: true,
        rotatesRefreshTokens: true,
        grants: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
        redirectURIs: ['http://127.0.0.1', 'http://localhost'],
        keepAfterSignOut: true,
        wellKnownSecret: undefined,
      });
    }
  });
});

describe('the issuer', () => {
  it("defaults to the server's own address", () => {
    expect(issuerOf(configuration('{}').oauth, 9443)).to.equal(DEFAULT);
  });

  it('must be an https URL with the path /oauth', () => {
    for (const issuer of [
      'http://a.example/oauth',
      'https://a.example/oauth/',
      'https://a.example/oauth?x',
      'https://u@a.example/oauth',
      'https://a.example',
      'https://a.example/x/oauth',
    ]) {
      expect(() => configuration(`{issuer: "${issuer}"}`), issuer).to.throw(ConfigurationError);
    }
  });
});
