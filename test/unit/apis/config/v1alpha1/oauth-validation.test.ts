// Tests of the validation of the configuration section `oauth`.
import { expect } from 'chai';
import { ConfigurationError } from '../../../../../apis/config/v1alpha1/configuration-error.ts';
import { decodeConfiguration } from '../../../../../apis/config/v1alpha1/decode.ts';

function errorsOf(...lines: string[]): string[] {
  const head = ['apiVersion: config.platform.io/v1alpha1', 'kind: APIServerConfiguration'];
  try {
    decodeConfiguration({ source: 'c.yaml', text: [...head, ...lines, ''].join('\n') });
    return [];
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    return error.message.split('\n');
  }
}

function sectionErrors(oauth: object): string[] {
  return errorsOf(`oauth: ${JSON.stringify(oauth)}`);
}

describe('validation of oauth', () => {
  for (const [what, oauth, words] of [
    [
      'two clients of one id',
      {
        clients: [
          { id: 'a', public: true },
          { id: 'a', public: true },
        ],
      },
      /:\d+:\d+: oauth\.clients\.1\.id: is already the id of another client/,
    ],
    [
      'a confidential client without a place for its secret',
      { clients: [{ id: 'a' }] },
      /oauth\.clients\.0: requires a secret/,
    ],
    [
      'a public client with a secret',
      { clients: [{ id: 'a', public: true, secretFiles: ['/x'] }] },
      /oauth\.clients\.0\.secretFiles: conflicts with public/,
    ],
    [
      'a public client with a Secret to come',
      { clients: [{ id: 'a', public: true, nextSecretRef: { name: 's' } }] },
      /oauth\.clients\.0\.nextSecretRef: conflicts with public/,
    ],
    [
      'a client that has neither a secret nor PKCE',
      { clients: [{ id: 'a', public: true, pkce: 'optional' }] },
      /oauth\.clients\.0\.pkce: must not be optional for a public client/,
    ],
    [
      'a client whose refresh tokens are guarded by nothing',
      { clients: [{ id: 'a', public: true, refreshTokens: 'kept' }] },
      /oauth\.clients\.0\.refreshTokens: must not be kept for a public client/,
    ],
    [
      'a redirect URI that others on the way could read',
      { clients: [{ id: 'a', public: true, redirectURIs: ['http://console.example.com/cb'] }] },
      /oauth\.clients\.0\.redirectURIs\.0: must be https, http with a loopback host/,
    ],
    [
      'a place to go to after signing out that runs what it holds',
      { clients: [{ id: 'a', public: true, postLogoutRedirectURIs: ['https://a/', 'javascript:alert(1)'] }] },
      /oauth\.clients\.0\.postLogoutRedirectURIs\.1: must be https, .*, not "javascript:alert\(1\)"/,
    ],
    [
      'a place to go to after signing out that others on the way could read',
      { clients: [{ id: 'a', public: true, postLogoutRedirectURIs: ['http://console.example.com/'] }] },
      /oauth\.clients\.0\.postLogoutRedirectURIs\.0: must be https, http with a loopback host/,
    ],
    [
      'a trusted proxy that is no network',
      { trustedProxies: ['10.0.0.0/8', 'somewhere'] },
      /oauth\.trustedProxies\.1: must be an address or a network such as 10\.0\.0\.0\/8, not "somewhere"/,
    ],
  ] as const) {
    it(`rejects ${what}`, () => {
      const found = sectionErrors(oauth);
      expect(found).to.have.length(1);
      expect(found[0]).to.match(words);
    });
  }

  it('reports all errors with their lines', () => {
    const found = errorsOf(
      'oauth:',
      '  trustedProxies: [here]',
      '  clients:',
      '    - id: "a b"',
      '    - id: desk',
      '      public: true',
      '      secretRef: {name: desk}',
      '      grants: [authorisation_code]',
      '    - id: desk',
      '      secretFiles: [desk.txt]',
      '      redirectURIs: ["http://example.com/"]',
      'listeners: {secure: {certFile: a}}',
    );
    expect(found.map((error) => error.replace(/^c\.yaml:(\d+):\d+: ([^:]*): .*$/, '$1 $2'))).to.deep.equal([
      '4 oauth.trustedProxies.0',
      '6 oauth.clients.0',
      '6 oauth.clients.0.id',
      '9 oauth.clients.1.secretRef',
      '10 oauth.clients.1.grants.0',
      '11 oauth.clients.2.id',
      '13 oauth.clients.2.redirectURIs.0',
      '14 listeners.secure.certFile',
    ]);
  });

  it('reports a missing secret, unless its type is wrong or the authorization server is disabled', () => {
    const clients = (...lines: string[]): string[] => errorsOf('oauth:', '  clients:', ...lines);
    expect(
      clients('    - id: a', '      public: true', '      secretRef:', '        # name: a'),
    ).to.deep.equal([]);
    const [missing, ...others] = clients('    - id: a', '      secretRef:');
    expect(missing).to.include('oauth.clients.0: requires a secret');
    expect(others).to.deep.equal([]);
    // A secret of the wrong type is not missing.
    for (const client of [{ secretFiles: 'x' }, { secretRef: 'x' }, { public: 'yes' }]) {
      expect(sectionErrors({ clients: [{ id: 'a', ...client }] }), Object.keys(client)[0]).to.have.length(1);
    }
    const disabled = { enabled: false, clients: [{ id: 'a' }], trustedProxies: ['here'] };
    expect(sectionErrors(disabled)).to.deep.equal([]);
  });
});
