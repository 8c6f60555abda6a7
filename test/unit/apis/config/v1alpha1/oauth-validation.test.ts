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
  const PLAINTEXT = 'must be https, http with a loopback host';
  for (const [what, client, option, message] of [
    ['a confidential client without a place for its secret', { public: false }, '', 'requires a secret'],
    ['a public client with a secret', { secretFiles: ['/x'] }, 'secretFiles', 'conflicts with public'],
    ['a public client with a Secret', { secretRef: { name: 's' } }, 'secretRef', 'conflicts with'],
    ['a client that has neither a secret nor PKCE', { pkce: 'optional' }, 'pkce', 'must not be optional for'],
    [
      'a client with unprotected refresh tokens',
      { refreshTokens: 'kept' },
      'refreshTokens',
      'must not be kept for',
    ],
    [
      'a plaintext redirect URI',
      { redirectURIs: ['http://console.example.com/cb'] },
      'redirectURIs[0]',
      PLAINTEXT,
    ],
    [
      'a script as address after signing out',
      { postLogoutRedirectURIs: ['https://a/', 'javascript:alert(1)'] },
      'postLogoutRedirectURIs[1]',
      PLAINTEXT,
    ],
    [
      'a logout address that no URL can have',
      { backchannelLogoutURI: 'https://console.example.com:99999/logout' },
      'backchannelLogoutURI',
      'must be a URL with a valid host and port',
    ],
  ] as const) {
    it(`rejects ${what}`, () => {
      const [error, ...others] = sectionErrors({ clients: [{ id: 'a', public: true, ...client }] });
      expect(error).to.include(`: oauth.clients[0]${option && `.${option}`}: ${message}`);
      expect(others).to.deep.equal([]);
    });
  }

  it('rejects an issuer whose host or port no URL can have', () => {
    for (const host of ['api.example.com:99999', '[', '[::1', '%zz', '1.2.3.400']) {
      const [error, ...others] = sectionErrors({ issuer: `https://${host}/oauth` });
      expect(error, host).to.contain('oauth.issuer: must be a URL with a valid host and port');
      expect(others, host).to.deep.equal([]);
    }
  });

  it('rejects two clients of one id, and a trusted proxy that is no network', () => {
    const client = { id: 'a', public: true };
    const [error, ...others] = sectionErrors({ clients: [client, client] });
    expect(error).to.match(/:\d+:\d+: oauth\.clients\[1\]\.id: is already the id of another client/);
    expect(others).to.deep.equal([]);
    expect(sectionErrors({ trustedProxies: ['10.0.0.0/8', 'somewhere'] }).join('\n')).to.include(
      'oauth.trustedProxies[1]: must be an address or a network such as 10.0.0.0/8, not "somewhere"',
    );
  });

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
      '4 oauth.trustedProxies[0]',
      '6 oauth.clients[0]',
      '6 oauth.clients[0].id',
      '9 oauth.clients[1].secretRef',
      '10 oauth.clients[1].grants[0]',
      '11 oauth.clients[2].id',
      '13 oauth.clients[2].redirectURIs[0]',
      '14 listeners.secure.certFile',
    ]);
  });

  it('reports a missing secret, unless its type is wrong or the authorization server is disabled', () => {
    const clients = (...lines: string[]): string[] => errorsOf('oauth:', '  clients:', ...lines);
    expect(
      clients('    - id: a', '      public: true', '      secretRef:', '        # name: a'),
    ).to.deep.equal([]);
    const [missing, ...others] = clients('    - id: a', '      secretRef:');
    expect(missing).to.include('oauth.clients[0]: requires a secret');
    expect(others).to.deep.equal([]);
    // A secret of the wrong type is not missing.
    for (const client of [{ secretFiles: 'x' }, { secretRef: 'x' }, { public: 'yes' }]) {
      expect(sectionErrors({ clients: [{ id: 'a', ...client }] }), Object.keys(client)[0]).to.have.length(1);
    }
    const disabled = { enabled: false, clients: [{ id: 'a' }], trustedProxies: ['here'] };
    expect(sectionErrors(disabled)).to.deep.equal([]);
  });

  describe('of identity providers', () => {
    const ldap = {
      hosts: ['ldap.example.com:636', '[2001:db8::1]'],
      bindDN: 'cn=reader,dc=example,dc=com',
      userSearch: { base: 'ou=people,dc=example,dc=com', filter: '(&(objectClass=person)(!(uid=x)))' },
    };
    const errors = (...providers: object[]) => sectionErrors({ identityProviders: providers });

    it('accepts a directory', () => {
      expect(errors({ name: 'company', ldap })).to.deep.equal([]);
    });

    it('rejects a second factor of people of an unknown provider, which would not be required', () => {
      const identityProviders = [{ name: 'company', ldap }];
      const secondFactor = { providers: ['company', 'compamy'] };
      expect(sectionErrors({ identityProviders, secondFactor }).join()).to.include(
        'oauth.secondFactor.providers[1]',
      );
    });

    for (const [what, change, option] of [
      ['a provider without servers', { hosts: [] }, 'hosts'],
      ['a server with a scheme', { hosts: ['ldap://ldap.example.com'] }, 'hosts[0]'],
      ['a server with a user', { hosts: ['a@ldap.example.com'] }, 'hosts[0]'],
      ['a service account that is no DN', { bindDN: 'EXTERNAL' }, 'bindDN'],
      ['a provider without a base', { userSearch: {} }, 'userSearch.base'],
      ['an invalid filter', { userSearch: { ...ldap.userSearch, filter: '(uid=a' } }, 'userSearch.filter'],
      ['an invalid group filter', { groupSearch: { filter: '(&' } }, 'groupSearch.filter'],
      ['plain text', { tls: 'none' }, 'tls'],
      [
        'an attribute with an option',
        { userSearch: { ...ldap.userSearch, idAttribute: 'a;b' } },
        'userSearch.idAttribute',
      ],
    ] as const) {
      it(`rejects ${what}`, () => {
        const [error, ...others] = errors({ name: 'company', ldap: { ...ldap, ...change } });
        expect(error).to.include(`: oauth.identityProviders[0].ldap.${option}: must `);
        expect(others).to.deep.equal([]);
      });
    }

    it('rejects a name that another provider has', () => {
      const [error] = errors({ name: 'company', ldap }, { name: 'company', ldap });
      expect(error).to.include('oauth.identityProviders[1].name: is already the name');
    });

    it('rejects a prefix that makes reserved groups', () => {
      const [error] = errors({ name: 'company', groups: { prefix: 'system:' }, ldap });
      expect(error).to.include('oauth.identityProviders[0].groups.prefix: must be');
    });
  });
});
