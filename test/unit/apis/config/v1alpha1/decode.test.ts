// Tests of the decoder of the configuration file, and of the option tables.
import { expect } from 'chai';
import { ConfigurationError } from '../../../../../apis/config/v1alpha1/configuration-error.ts';
import { decodeConfiguration } from '../../../../../apis/config/v1alpha1/decode.ts';
import type { Override } from '../../../../../apis/config/v1alpha1/error-locator.ts';
import { optionRows } from '../../../../../apis/config/v1alpha1/option-table.ts';

const HEAD = 'apiVersion: config.platform.io/v1alpha1\nkind: APIServerConfiguration\n';

function decode(text: string, overrides: Override[] = []) {
  return decodeConfiguration({ source: 'c.yaml', text }, overrides);
}

function errorsOf(text: string, overrides: Override[] = []): string[] {
  try {
    decode(text, overrides);
    return [];
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    return error.message.split('\n');
  }
}

describe('decodeConfiguration', () => {
  it('sets every default, and converts durations to milliseconds', () => {
    const configuration = decode(HEAD);
    expect(configuration.listeners.secure.port).to.equal(9443);
    expect(configuration.listeners.insecure).to.include({ enabled: true, port: 9090 });
    expect(decodeConfiguration(undefined)).to.deep.equal(configuration);
    expect(decode(`${HEAD}log:\n  # level: debug\n`)).to.deep.equal(configuration);
    expect(decode(`${HEAD}shutdown: {readinessDelay: 1m31.5s}\n`).shutdown.readinessDelay).to.equal(91_500);
  });

  it('reports all errors with file, line, column and path', () => {
    const text = `${HEAD}listeners:\n  secure:\n    prot: 1\n    port: abc\n  limits:\n    connections: 0\nlog: {level: inof}\n`;
    expect(errorsOf(text)).to.deep.equal([
      'c.yaml:5:5: listeners.secure.prot: unknown option, did you mean "port"? (allowed: address, port, certFile, keyFile, caFile, minVersion, selfSigned)',
      'c.yaml:6:11: listeners.secure.port: must be a whole number from 0 to 65535, not "abc"',
      'c.yaml:8:18: listeners.limits.connections: must be a whole number from 1 to 10000000, not 0',
      'c.yaml:9:14: log.level: must be one of debug, info, warn, error, not "inof"; did you mean "info"?',
    ]);
  });

  it('reports contradictions together with errors of single options', () => {
    const text = `${HEAD}listeners:\n  secure:\n    certFile: a\nlog: {level: 3}\n`;
    expect(errorsOf(text)).to.deep.equal([
      'c.yaml:5:5: listeners.secure.certFile: requires keyFile',
      'c.yaml:6:14: log.level: must be one of debug, info, warn, error, not 3',
    ]);
  });

  it('accepts a host for the pages of backends that is no host of this platform', () => {
    const at = (host: string, others: string): string[] =>
      errorsOf(`${HEAD}gateway: {proxyHost: ${host}}\n${others}`);
    expect(at('pages.example.net', 'oauth: {issuer: https://platform.example.net/oauth}\n')).to.deep.equal(
      [],
    );
    for (const others of [
      'oauth: {issuer: https://pages.example.net/oauth}\n',
      'oauth: {issuer: https://PAGES.example.net:8443/oauth}\n',
      'cors: {allowedOrigins: [https://pages.example.net]}\n',
      'oauth: {clients: [{id: a, public: true, redirectURIs: [https://pages.example.net/callback]}]}\n',
    ]) {
      expect(at('pages.example.net', others).join(), others).to.contain(
        '3:22: gateway.proxyHost: must not be the host of oauth.issuer, cors.allowedOrigins or a redirect URI',
      );
    }
    for (const host of [
      'localhost',
      'Pages.example.net',
      'pages.example.net:8443',
      'pages.example.net.',
      '127.0.0.1',
      '"*.example.net"',
      '"[::1]"',
      'https://pages.example.net',
    ]) {
      expect(at(host, '').join(), host).to.contain('must be a DNS name in lower case');
    }
  });

  const [API_VERSION = '', KIND = ''] = HEAD.split('\n');
  for (const [what, text, expected] of [
    ['an empty file', '', ' is empty; apiVersion and kind are required'],
    ['a tab', `${HEAD}log:\n\tlevel: info\n`, '4:1: is indented with a tab; YAML requires spaces'],
    ['a key given twice', `${HEAD}log: {}\nlog: {}\n`, '4:1: duplicate key; remove one of them'],
    [
      'a second document',
      `${HEAD}---\na: 1\n`,
      '3:1: contains more than one YAML document; only one is accepted',
    ],
    [
      'an alias inside its own anchor',
      `${HEAD}log: &a {level: *a}\n`,
      '3:17: the alias *a is inside its own anchor',
    ],
    ['an alias without an anchor', `${HEAD}log: *a\n`, '3:6: the alias *a has no anchor before it'],
    [
      'aliases that stand for many values',
      `${HEAD}a: &a [x,x,x]\n${['b', 'c', 'd', 'e', 'f'].map((name, at) => `${name}: &${name} [${`*${'abcde'[at]},`.repeat(9)}]\n`).join('')}`,
      '1:1: its aliases stand for more than 100 values',
    ],
    ['a list', '- a\n', '1:1: must be an object, not ["a"]'],
    ['another kind', `${API_VERSION}\nkind: A`, '2:7: kind: must be APIServerConfiguration, not "A"'],
    ['another version', `apiVersion: v1\n${KIND}`, '1:13: apiVersion: must be config.platform.io/v1alpha1'],
    ['no version', KIND, '1:1: apiVersion: is missing; must be config.platform.io/v1alpha1'],
    ['no kind', API_VERSION, '1:1: kind: is missing; must be APIServerConfiguration'],
    [
      'an address in brackets',
      `${HEAD}listeners: {secure: {address: "[::1]"}}\n`,
      '3:31: listeners.secure.address: must be an IP address without brackets, or a host name of this machine, not "[::1]"',
    ],
    [
      'an address with a NUL',
      `${HEAD}listeners: {insecure: {address: "\\0"}}\n`,
      '3:33: listeners.insecure.address: must be an IP address without brackets',
    ],
    [
      'a client without an id',
      `${HEAD}oauth: {clients: [{public: true}]}\n`,
      '3:19: oauth.clients[0].id: is missing; must be 1 to 128 printable ASCII characters without spaces',
    ],
    [
      'a key from the prototype',
      `${HEAD}__proto__: {}\n`,
      '3:1: __proto__: unknown option (allowed: apiVersion, ',
    ],
  ] as const) {
    it(`rejects ${what}`, () => {
      const [first = ''] = errorsOf(text);
      expect(first.startsWith(`c.yaml:${expected}`), first).to.equal(true);
    });
  }

  it('quotes no credentials of a URL', () => {
    const url = 'https://u:s3cret@h.example.com/x';
    const client = {
      id: 'a',
      public: true,
      backchannelLogoutURI: url,
      redirectURIs: [url.replace('https', 'ftp')],
    };
    const ldap = { hosts: [url], bindDN: url, userSearch: { base: url, filter: url } };
    const sections = {
      listeners: { secure: { address: url } },
      oauth: {
        issuer: url,
        trustedProxies: [url],
        clients: [client],
        identityProviders: [{ name: 'a', ldap }],
      },
      cors: { allowedOrigins: [url] },
      gateway: { proxyHost: url },
      tracing: { endpoint: url },
      log: { level: url },
    };
    for (const [name, section] of Object.entries(sections)) {
      const errors = errorsOf(`${HEAD}${name}: ${JSON.stringify(section)}\n`);
      expect(errors, name).not.to.deep.equal([]);
      expect(errors.join('\n'), name).not.to.contain('s3cret');
    }
    expect(errorsOf(`${HEAD}oauth: {issuer: "${url}"}\n`).join()).to.contain(
      'not "https://…@h.example.com/x"',
    );
  });

  it('accepts the general apiVersion and that of the configured platform', () => {
    const named = HEAD.replace('config.platform.io', 'config.acme.io');
    expect(decode(`${named}platform: {name: acme}\n`).platform.name).to.equal('acme');
    expect(decode(`${HEAD}platform: {name: acme}\n`).platform.name).to.equal('acme');
    expect(errorsOf(named)).to.have.length(1);
  });

  it('overrides the file by flags, and reports their errors under the flag', () => {
    const override = (value: unknown) => [
      { path: ['listeners', 'secure', 'port'], value, source: '--secure-port' },
    ];
    expect(decode(`${HEAD}listeners: {secure: {port: 1}}\n`, override(2)).listeners.secure.port).to.equal(2);
    expect(errorsOf(HEAD, override('x'))).to.deep.equal([
      '--secure-port: must be a whole number from 0 to 65535, not "x"',
    ]);
  });
});

describe('optionRows', () => {
  it('lists every option once, with its type, default and a description', () => {
    const rows = optionRows();
    expect(new Set(rows.map(({ path }) => path)).size).to.equal(rows.length);
    expect(rows.find(({ path }) => path === 'listeners.secure.port')).to.include({
      type: 'integer, 0 to 65535',
      default: '9443',
    });
    for (const row of rows) expect(row.description, row.path).to.match(/\.$/);
  });
});
