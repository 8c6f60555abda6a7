// Tests of the authentication of OAuth clients.
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { expect } from 'chai';
import { OAuthError } from '../../../../../apis/oauth/oauth-error.ts';
import {
  authenticateClient,
  newClientThrottle,
} from '../../../../../server/oauth/clients/client-authentication.ts';
import type { ClientRegistry } from '../../../../../server/oauth/clients/oauth-client.ts';
import { Form } from '../../../../../server/oauth/http/form.ts';
import { SourceThrottle } from '../../../../../server/oauth/throttle/delays.ts';
import { heapInUse } from '../../../../support/oauth/heap-in-use.ts';
import { newClient, newConfiguredClient } from '../../../../support/oauth/oauth-clients.ts';

const SECRETS: Readonly<Record<string, string>> = {
  console: 's3cret',
  'a:b': 'ü %+&',
  plain: 'q+/%41=',
  escape: '100%',
  'x+y z%': 'pass+word%',
  'https://app.example/a': 'u:v',
};
const known = [...Object.keys(SECRETS).map((id) => newClient(id)), newClient('cli', { isPublic: true })];

class Registry implements ClientRegistry {
  checks = 0;
  throttle: SourceThrottle | undefined;

  get(id: string) {
    return known.find((client) => client.id === id);
  }

  checkSecret(id: string, secret: string): boolean {
    this.checks++;
    return SECRETS[id] === secret;
  }
}

type Fields = Readonly<Record<string, string>>;

function requestWith(headers: Fields): IncomingMessage {
  return Object.assign(new IncomingMessage(new Socket()), { headers });
}

const authenticate = (form: Fields, headers: Fields = {}, registry = new Registry()): string =>
  authenticateClient(requestWith(headers), new Form(new URLSearchParams(form).toString()), registry).id;

/** The id of the client, or the error as `status code`, with a star if it has a challenge. */
function outcome(...request: Parameters<typeof authenticate>): unknown {
  try {
    return authenticate(...request);
  } catch (error) {
    if (!(error instanceof OAuthError)) return error;
    return `${error.status} ${error.code}${error.challenge === undefined ? '' : '*'}`;
  }
}

const header = (pair: string | Buffer): string => `Basic ${Buffer.from(pair).toString('base64')}`;
const basic = (id: string, secret: string): string =>
  header(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`);

const REFUSED = '401 invalid_client';
const CHALLENGED = '401 invalid_client*';

describe('client authentication', () => {
  for (const [title, authorization, expected] of [
    ['accepts id and secret in the header', basic('console', 's3cret'), 'console'],
    ['accepts an id with a colon, form-encoded', basic('a:b', 'ü %+&'), 'a:b'],
    ['accepts any case of the scheme', basic('console', 's3cret').replace('Basic', 'bAsIc'), 'console'],
    ['accepts a form-encoded plus sign', basic('plain', 'q+/%41='), 'plain'],
    ['accepts a plus sign that is not form-encoded', header('plain:q+/%41='), 'plain'],
    ['accepts a percent sign that is not form-encoded', header('escape:100%'), 'escape'],
    ['accepts an id with reserved characters', basic('x+y z%', 'pass+word%'), 'x+y z%'],
    ['accepts it without form-encoding', header('x+y z%:pass+word%'), 'x+y z%'],
    ['accepts blanks as plus signs', header('x%2By+z%25:pass%2Bword%25'), 'x+y z%'],
    ['accepts a URL as an id', basic('https://app.example/a', 'u:v'), 'https://app.example/a'],
    ['accepts a URL without form-encoding', header('https://app.example/a:u:v'), 'https://app.example/a'],
    ['accepts a colon without form-encoding', header('a:b:ü %+&'), 'a:b'],
    ['rejects a wrong secret behind a URL', header('https://app.example/a:u:w'), CHALLENGED],
    ['rejects both decodings in one secret', basic('plain', 'q /A='), CHALLENGED],
    ['rejects an unknown client in the header', basic('nobody', 's3cret'), CHALLENGED],
    ['rejects a wrong secret in the header', basic('console', 'wrong'), CHALLENGED],
    ['rejects another scheme', 'Digest username="console"', CHALLENGED],
    ['rejects a header without credentials', 'Basic', CHALLENGED],
    ['rejects a header that is not base64', 'Basic !!!', CHALLENGED],
    ['rejects a header without a colon', header('console'), CHALLENGED],
    ['rejects a header without an id', header(':s3cret'), CHALLENGED],
    ['rejects a malformed escape', header('console:%zz'), CHALLENGED],
    ['rejects unknown bytes that are not UTF-8', header(Buffer.from([0xff, 0x3a, 0xff])), CHALLENGED],
  ] as const) {
    it(title, () => expect(outcome({}, { authorization })).to.equal(expected));
  }

  for (const [title, form, expected] of [
    ['rejects an unknown client', { client_id: 'nobody', client_secret: 's3cret' }, REFUSED],
    ['rejects a wrong secret', { client_id: 'console', client_secret: 'wrong' }, REFUSED],
    ['does not decode a secret in the form', { client_id: 'plain', client_secret: 'q /A=' }, REFUSED],
    ['rejects a request without client authentication', {}, REFUSED],
    ['rejects a secret without a client', { client_secret: 's3cret' }, REFUSED],
    ['rejects a client without its secret', { client_id: 'console' }, REFUSED],
    ['accepts a public client', { client_id: 'cli' }, 'cli'],
    ['rejects a public client with a secret', { client_id: 'cli', client_secret: 'x' }, REFUSED],
  ] as const) {
    it(title, () => expect(outcome(form)).to.equal(expected));
  }

  it('rejects client assertions, and names the cure', () => {
    const form = { client_id: 'cli', client_assertion: 'x' };
    expect(outcome(form)).to.equal(REFUSED);
    expect(() => authenticate(form)).to.throw('client assertions are not supported, use a client secret');
  });

  it('accepts an equal client_id in the form beside the header, but no second authentication method', () => {
    const headers = { authorization: basic('console', 's3cret') };
    expect(outcome({ client_id: 'console' }, headers)).to.equal('console');
    for (const form of [{ client_id: 'cli' }, { client_id: 'console', client_secret: 's3cret' }]) {
      expect(outcome(form, headers)).to.equal('400 invalid_request');
    }
  });

  it('reads a header that is not UTF-8 as Latin-1, as Python libraries encode it', () => {
    for (const id of ['a:b', 'a%3Ab']) {
      const authorization = header(Buffer.from(`${id}:ü %+&`, 'latin1'));
      expect(outcome({}, { authorization })).to.equal('a:b');
    }
  });

  for (const authorization of [
    '',
    'Bearer',
    'bearer x.y.z',
    'Bearer undefined',
    'Bearer\tx',
    'undefined',
    'Negotiate abc',
    'Digest username="a"',
    'Basic',
    'Basic Og==',
  ]) {
    it(`ignores the header ${JSON.stringify(authorization)} beside credentials in the form`, () => {
      const at = (form: Fields): unknown => outcome(form, { authorization });
      expect(at({ client_id: 'console', client_secret: 's3cret' })).to.equal('console');
      expect(at({ client_id: 'cli' })).to.equal('cli');
      expect(at({ client_id: 'console', client_secret: 'wrong' })).to.equal(REFUSED);
      expect(at({ client_id: 'console' })).to.equal(REFUSED);
    });
  }

  for (const authorization of ['Basic !!!', header('console'), header(':s3cret'), header('console:')]) {
    it(`does not ignore the header ${authorization} beside credentials in the form`, () => {
      const form = { client_id: 'console', client_secret: 's3cret' };
      expect(outcome(form, { authorization })).to.be.oneOf([CHALLENGED, '400 invalid_request']);
    });
  }

  it('makes the same number of comparisons for an unknown client', () => {
    for (const id of ['plain', 'nobody']) {
      const registry = new Registry();
      outcome({}, { authorization: header(`${id}:a+b`) }, registry);
      outcome({ client_id: id, client_secret: 'x' }, {}, registry);
      expect(registry.checks, id).to.equal(3);
    }
  });

  for (const [form, cause] of [
    [{ client_id: 'console', client_secret: 'wrong' }, 'the client console sent a wrong secret'],
    [{ client_id: 'console' }, 'the client console sent no secret'],
    [{ client_id: 'cli', client_secret: 'x' }, 'the client cli is public and sent a secret'],
    [{ client_id: 'pa55word', client_secret: 'x' }, 'unknown client'],
    [{ client_id: 'pa55word' }, 'unknown client'],
  ] as const) {
    it(`logs ${cause} for ${JSON.stringify(form)}, without the id of an unknown client`, () => {
      expect(() => authenticate(form))
        .to.throw(OAuthError, /^client authentication failed$/)
        .with.nested.property('cause.message', cause);
    });
  }

  it('says that the client_id is missing', () => {
    expect(() => authenticate({})).to.throw(OAuthError, /^client_id is missing$/);
  });
});

describe('the throttle of client authentication', () => {
  let now: number;
  let registry: Registry;
  beforeEach(() => {
    now = 1_000_000;
    registry = new Registry();
    registry.throttle = new SourceThrottle(
      { failures: 3, delay: 1000, maxDelay: 60_000, reset: 3_600_000, entries: 100 },
      (request) => String(request.headers['x-source'] ?? '192.0.2.1'),
      () => now,
    );
  });

  const ask = (client_id: string, client_secret: string, headers: Fields = {}): unknown =>
    outcome({ client_id, client_secret }, headers, registry);
  const DELAYED = '429 invalid_client';

  it('delays guessing without comparing the secret, and delays no other address', () => {
    for (const id of ['console', 'nobody']) {
      expect([1, 2, 3, 4].map(() => ask(id, 'guess'))).to.deep.equal([REFUSED, REFUSED, REFUSED, DELAYED]);
    }
    const { checks } = registry;
    expect(ask('console', 's3cret')).to.equal(DELAYED);
    expect(registry.checks).to.equal(checks);
    expect(ask('console', 's3cret', { 'x-source': '198.51.100.7' })).to.equal('console');
    expect(ask('a:b', 'ü %+&')).to.equal('a:b');
    now += 1000;
    expect(ask('console', 's3cret')).to.equal('console');
  });

  it('keeps only digests of client input in memory, and still works when an attacker fills the table', () => {
    const before = heapInUse();
    for (let i = 0; i < 200; i++) ask(Buffer.alloc(60_000, `${1000 + i}`).toString('latin1'), 'x');
    expect(heapInUse() - before).to.be.below(4_000_000);
    expect([1, 2, 3, 4].map(() => ask('console', 'guess')).at(-1)).to.equal(DELAYED);
  });

  describe('of a configuration', () => {
    const limits = { sourceFailures: 3, delay: 1000, maxDelay: 900_000, reset: 3_600_000, entries: 10 };
    const throttleOf = (wellKnownSecret?: string) =>
      newClientThrottle(
        [newConfiguredClient('console', { wellKnownSecret })],
        { ...limits, failures: 5 },
        () => '192.0.2.1',
        () => now,
      );

    it('delays for at most a minute', () => {
      const throttle = throttleOf();
      const request = requestWith({});
      for (let i = 0; i < 20; i++) throttle?.failed(request, 'console');
      expect(throttle?.wait(request, 'console')).to.equal(60);
    });

    it('is disabled for the default client', () => expect(throttleOf('platform')).to.equal(undefined));
  });
});
