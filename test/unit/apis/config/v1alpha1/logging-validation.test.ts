// Tests of the validation of the configuration section `logging`.
import { expect } from 'chai';
import { ConfigurationError } from '../../../../../apis/config/v1alpha1/configuration-error.ts';
import { decodeConfiguration } from '../../../../../apis/config/v1alpha1/decode.ts';
import { plaintextURLs } from '../../../../../apis/config/v1alpha1/logging-validation.ts';

const HEAD = 'apiVersion: config.platform.io/v1alpha1\nkind: APIServerConfiguration\n';

function errorsOf(logging: object): string[] {
  try {
    decodeConfiguration({ source: 'c.yaml', text: `${HEAD}logging: ${JSON.stringify(logging)}\n` });
    return [];
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    return error.message.split('\n');
  }
}

describe('validation of log stores', () => {
  const REMOTE = 'https://logs';
  for (const [what, store, options, message] of [
    ['OpenSearch without an address', 'opensearch', {}, 'urls: requires at least one URL'],
    ['VictoriaLogs without an address', 'victorialogs', {}, 'url: must be a URL'],
    ['what is no address', 'opensearch', { urls: ['search:9200'] }, 'urls[0]: must be a URL'],
    [
      'credentials in an address',
      'victorialogs',
      { url: 'https://a:b@logs' },
      'url: must not contain credentials',
    ],
    [
      'plaintext credentials',
      'opensearch',
      { urls: ['http://logs'], apiKeyFile: 'k' },
      'urls[0]: must begin with https',
    ],
    [
      'plaintext credentials, at a name that begins like an address of this machine',
      'victorialogs',
      { url: 'http://127.example.com', bearerTokenFile: 't' },
      'url: must begin with https',
    ],
    [
      'two kinds of credentials',
      'victorialogs',
      { url: REMOTE, username: 'u', passwordFile: 'p', bearerTokenFile: 't' },
      'bearerTokenFile: conflicts with username',
    ],
    [
      'a user without a password',
      'opensearch',
      { urls: [REMOTE], username: 'u' },
      'username: requires passwordFile',
    ],
  ] as const) {
    it(`rejects ${what}`, () => {
      expect(errorsOf({ store, [store]: options }).join('\n')).to.include(`logging.${store}.${message}`);
    });
  }

  it('names the invalid URL', () => {
    const urls = ['https://search-0', 'search-1', 'https://search-2', 'ftp://search-3'];
    const found = errorsOf({ store: 'opensearch', opensearch: { urls } });
    expect(found.map((error) => /logging\.[^:]*/.exec(error)?.[0])).to.deep.equal([
      'logging.opensearch.urls[1]',
      'logging.opensearch.urls[3]',
    ]);
  });

  it('reports errors of the intended store if its name is misspelled', () => {
    const found = errorsOf({
      store: 'opensaerch',
      opensearch: { urls: ['search:9200'], username: 'u' },
      victorialogs: { url: 'not expected' },
    });
    expect(found.map((error) => /logging\.[^:]*/.exec(error)?.[0])).to.have.members([
      'logging.store',
      'logging.opensearch.urls[0]',
      'logging.opensearch.username',
    ]);
  });

  it('does not report an option of the wrong type as missing', () => {
    const user = { username: 'u', passwordFile: 1 };
    for (const logging of [
      { store: 'opensearch', opensearch: { urls: ['https://search', 1] } },
      { store: 'victorialogs', victorialogs: { url: ['https://logs'] } },
      { store: 'victorialogs', victorialogs: { url: 'https://logs', ...user } },
      { store: 'victorialogs', victorialogs: 'https://logs' },
      { store: 1, opensearch: { urls: ['search:9200'] } },
    ]) {
      expect(errorsOf(logging), JSON.stringify(logging)).to.have.length(1);
    }
  });

  it('accepts TLS, and loopback addresses, of the selected store, and anything if log queries are disabled', () => {
    const credentials = { username: 'u', passwordFile: 'p' };
    for (const logging of [
      { store: 'opensearch', opensearch: { urls: ['https://search'], ...credentials } },
      { store: 'victorialogs', victorialogs: { url: 'http://127.0.0.1:9428', ...credentials } },
      { opensearch: { urls: ['no address'] } },
      { enabled: false, store: 'opensearch' },
    ]) {
      expect(errorsOf(logging), JSON.stringify(logging)).to.deep.equal([]);
    }
  });

  it('returns plaintext URLs of the selected store only', () => {
    const addresses = {
      opensearch: { urls: ['https://search-0', 'http://search-1', 'http://127.0.0.1:9200'] },
      victorialogs: { url: 'http://logs' },
    };
    expect(plaintextURLs({ store: 'kubernetes', ...addresses })).to.deep.equal([]);
    expect(plaintextURLs({ store: 'opensearch', ...addresses })).to.deep.equal(['http://search-1']);
    expect(plaintextURLs({ store: 'victorialogs', ...addresses })).to.deep.equal(['http://logs']);
  });
});
