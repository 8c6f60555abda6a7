// Tests of the settings of the authorization server.
import { expect } from 'chai';
import { ConfigurationError } from '../../../../apis/config/v1alpha1/configuration-error.ts';
import { decodeConfiguration } from '../../../../apis/config/v1alpha1/decode.ts';
import { oauthSettings } from '../../../../server/oauth/settings.ts';
import { issuerOf } from '../../../../server/oauth/tokens/token-issuer.ts';

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
    const lenient = '{id: b, secretFiles: [/x], pkce: optional, refreshTokens: kept}';
    const clients = `[{id: a, secretFiles: [/x]}, ${lenient}]`;
    const settings = oauthSettings(configuration(`{clients: ${clients}}`));
    const flags = settings?.clients.map((one) => [one.requiresPKCE, one.rotatesRefreshTokens]);
    expect(flags?.slice(0, 2)).to.deep.equal([
      [true, true],
      [false, false],
    ]);
  });

  it('has no client for the OpenAPI page and for command-line programs beside a configured one of that id', () => {
    const ids = ['openapi-page', 'kubectl'];
    const configured = ids.map((id) => `{id: ${id}, public: true, grants: []}`);
    const settings = oauthSettings(configuration(`{clients: [${configured.join()}]}`));
    expect(settings?.clients.map(({ id }) => id)).to.deep.equal(ids);
    expect(settings?.clients.map(({ grants }) => grants)).to.deep.equal([[], []]);
  });

  describe('for the OpenAPI page', () => {
    const uris = (oauth: string) =>
      oauthSettings(configuration(oauth))?.clients.find(({ id }) => id === 'openapi-page')?.redirectURIs;

    it('has a client with the authorization_code grant only', () => {
      const client = oauthSettings(configuration('{clients: [{id: a, public: true}]}'))?.clients[1];
      expect(client).to.deep.include({
        id: 'openapi-page',
        isPublic: true,
        requiresPKCE: true,
        grants: ['authorization_code'],
        wellKnownSecret: undefined,
      });
      expect(uris('{issuer: "https://api.example.com:8443/oauth"}')).to.deep.equal([
        'https://api.example.com:8443/openapi/page/oauth2-redirect.html',
      ]);
    });

    it('has both names of a local server', () => {
      expect(uris('{}')).to.deep.equal([
        'https://localhost:9443/openapi/page/oauth2-redirect.html',
        'https://127.0.0.1:9443/openapi/page/oauth2-redirect.html',
      ]);
      expect(uris('{issuer: "https://127.0.0.1:1234/oauth"}')).to.deep.equal([
        'https://127.0.0.1:1234/openapi/page/oauth2-redirect.html',
        'https://localhost:1234/openapi/page/oauth2-redirect.html',
      ]);
    });
  });

  describe('for command-line programs', () => {
    const kubectl = (oauth: string) =>
      oauthSettings(configuration(oauth))?.clients.find(({ id }) => id === 'kubectl');

    it('has a public client with loopback redirect URIs and without a password grant', () => {
      for (const oauth of ['{}', '{clients: [{id: a, public: true}]}']) {
        expect(kubectl(oauth)).to.deep.include({
          isPublic: true,
          requiresPKCE: true,
          rotatesRefreshTokens: true,
          grants: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
          redirectURIs: ['http://127.0.0.1', 'http://localhost'],
          wellKnownSecret: undefined,
        });
      }
    });
  });
});

describe('the issuer', () => {
  it("defaults to the server's own address", () => {
    expect(issuerOf(configuration('{}').oauth, 9443)).to.equal('https://localhost:9443/oauth');
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
