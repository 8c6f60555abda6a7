// Tests of the authentication of OAuth clients.
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { expect } from 'chai';
import { OAuthError } from '../../../../../apis/oauth/errors.ts';
import {
  authenticateClient,
  ClientThrottle,
  newClientThrottle,
} from '../../../../../server/oauth/clients/client-authentication.ts';
import type { ClientRegistry } from '../../../../../server/oauth/clients/oauth-client.ts';
import { heapInUse } from '../../../../support/oauth/heap-in-use.ts';
import { newClient, newConfiguredClient } from '../../../../support/oauth/oauth-clients.ts';

const SECRETS: Readonly<Record<string, string>> = {
  console: 's3cret',
  'a:b': 'ü %+&',
  plain: 'q+/%41=',
  escape: '100%',
};
const known = [
  ...['console', 'a:b', 'plain', 'escape'].map((id) => newClient(id)),
  newClient('cli', { isPublic: true }),
];

class Registry implements ClientRegistry {
  checks = 0;

  get(id: string) {
    return known.find((client) => client.id === id);
  }

  checkSecret(id: string, secret: string): boolean {
    this.checks++;
    return SECRETS[id] === secret;
  }
}

function authenticate(
  form: Record<string, string>,
  authorization?: string,
  registry = new Registry(),
): string {
  const request = new IncomingMessage(new Socket());
  if (authorization !== undefined) request.headers.authorization = authorization;
  return authenticateClient(request, new Map(Object.entries(form)), registry).id;
}

function refusal(form: Record<string, string>, authorization?: string): unknown {
  try {
    return authenticate(form, authorization);
  } catch (error) {
    return error instanceof OAuthError ? [error.status, error.code, error.challenge !== undefined] : error;
  }
}

const basic = (id: string, secret: string): string =>
  `Basic ${Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString('base64')}`;

describe('client authentication', () => {
  it('accepts form-encoded id and secret in the Authorization header', () => {
    expect(authenticate({}, basic('console', 's3cret'))).to.equal('console');
    expect(authenticate({}, basic('a:b', 'ü %+&'))).to.equal('a:b');
    expect(authenticate({}, basic('a:b', 'ü %+&').replace('Basic', 'bAsIc'))).to.equal('a:b');
  });

  it('accepts a secret in the header that is not form-encoded', () => {
    for (const id of ['plain', 'escape', 'console']) {
      const header = `Basic ${Buffer.from(`${id}:${SECRETS[id]}`).toString('base64')}`;
      expect(authenticate({}, header)).to.equal(id);
      expect(authenticate({}, basic(id, SECRETS[id] ?? ''))).to.equal(id);
    }
    expect(refusal({}, basic('plain', 'q /A='))).to.deep.equal([401, 'invalid_client', true]);
    expect(refusal({ client_id: 'plain', client_secret: 'q /A=' })).to.deep.equal([
      401,
      'invalid_client',
      false,
    ]);
  });

  it('makes the same number of comparisons for an unknown client', () => {
    for (const id of ['plain', 'nobody']) {
      const registry = new Registry();
      const header = `Basic ${Buffer.from(`${id}:a+b`).toString('base64')}`;
      expect(() => authenticate({}, header, registry)).to.throw();
      expect(() => authenticate({ client_id: id, client_secret: 'x' }, undefined, registry)).to.throw();
      expect(registry.checks, id).to.equal(3);
    }
  });

  it('accepts an equal client_id in the form beside the header, but no second authentication method', () => {
    const header = basic('console', 's3cret');
    expect(authenticate({ client_id: 'console' }, header)).to.equal('console');
    for (const form of [{ client_id: 'cli' }, { client_id: 'console', client_secret: 's3cret' }]) {
      expect(refusal(form, header)).to.deep.equal([400, 'invalid_request', false]);
    }
  });

  const refused = [401, 'invalid_client', false];
  const refusedWithChallenge = [401, 'invalid_client', true];

  it('rejects an unknown client and a wrong secret with the same response', () => {
    expect(refusal({ client_id: 'nobody', client_secret: 's3cret' })).to.deep.equal(refused);
    expect(refusal({ client_id: 'console', client_secret: 'wrong' })).to.deep.equal(refused);
    expect(refusal({}, basic('nobody', 's3cret'))).to.deep.equal(refusedWithChallenge);
    expect(refusal({}, basic('console', 'wrong'))).to.deep.equal(refusedWithChallenge);
  });

  it('logs the cause, without the id of an unknown client', () => {
    const failures: [Record<string, string>, string][] = [
      [{ client_id: 'console', client_secret: 'wrong' }, 'the client console sent a wrong secret'],
      [{ client_id: 'console' }, 'the client console sent no secret'],
      [{ client_id: 'cli', client_secret: 'x' }, 'the client cli is public and sent a secret'],
      [{ client_id: 'pa55word', client_secret: 'x' }, 'unknown client'],
      [{ client_id: 'pa55word' }, 'unknown client'],
    ];
    for (const [form, cause] of failures) {
      expect(() => authenticate(form))
        .to.throw(OAuthError, /^client authentication failed$/)
        .with.nested.property('cause.message', cause);
    }
  });

  it('rejects a request without client authentication, and a public client with a secret', () => {
    expect(refusal({})).to.deep.equal(refused);
    expect(refusal({ client_secret: 's3cret' })).to.deep.equal(refused);
    expect(refusal({ client_id: 'console' })).to.deep.equal(refused);
    expect(authenticate({ client_id: 'cli' }), 'a public client').to.equal('cli');
    expect(refusal({ client_id: 'cli', client_secret: 'x' }), 'a public client').to.deep.equal(refused);
  });

  it('rejects other and malformed Authorization headers', () => {
    const pairs = ['console', ':s3cret', 'console:%zz', Buffer.from([0xff, 0x3a, 0xff])];
    const encoded = pairs.map((pair) => `Basic ${Buffer.from(pair).toString('base64')}`);
    for (const header of ['Digest username="console"', 'Basic', 'Basic !!!', ...encoded]) {
      expect(refusal({}, header), header).to.deep.equal(refusedWithChallenge);
    }
  });

  it('rejects client assertions', () => {
    const form = { client_id: 'cli', client_assertion: 'x' };
    expect(refusal(form)).to.deep.equal(refused);
    expect(() => authenticate(form)).to.throw(OAuthError, /assertions are not supported/);
  });
});

describe('the throttle of client authentication', () => {
  const LIMITS = { failures: 3, delay: 1000, maxDelay: 60_000, reset: 3_600_000 };

  function scene(entries = 100) {
    let now = 1_000_000;
    const throttle = new ClientThrottle({
      limits: LIMITS,
      entries,
      sourceOf: (request) => String(request.headers['x-source'] ?? '192.0.2.1'),
      now: () => now,
    });
    const registry = Object.assign(new Registry(), { throttle });
    return {
      registry,
      wait: (ms: number) => {
        now += ms;
      },
      /** The status; 200 for an authenticated client. */
      ask: (id: string, secret: string, source = '192.0.2.1'): number => {
        const request = new IncomingMessage(new Socket());
        request.headers['x-source'] = source;
        const form = new Map([
          ['client_id', id],
          ['client_secret', secret],
        ]);
        try {
          authenticateClient(request, form, registry);
          return 200;
        } catch (error) {
          return error instanceof OAuthError ? error.status : 0;
        }
      },
    };
  }

  it('delays guessing without comparing the secret, and delays no other address', () => {
    const { ask, registry, wait } = scene();
    for (const id of ['console', 'nobody']) {
      expect([1, 2, 3, 4].map(() => ask(id, 'guess'))).to.deep.equal([401, 401, 401, 429]);
    }
    const { checks } = registry;
    expect(ask('console', 's3cret')).to.equal(429);
    expect(registry.checks).to.equal(checks);
    expect(ask('console', 's3cret', '198.51.100.7')).to.equal(200);
    expect(ask('a:b', 'ü %+&')).to.equal(200);
    wait(1000);
    expect(ask('console', 's3cret')).to.equal(200);
  });

  it('keeps only digests of client input in memory, and still works when an attacker fills the table', () => {
    const { ask } = scene(100);
    const before = heapInUse();
    for (let i = 0; i < 200; i++) ask(Buffer.alloc(60_000, `${1000 + i}`).toString('latin1'), 'x');
    expect(heapInUse() - before).to.be.below(4_000_000);
    expect([1, 2, 3, 4].map(() => ask('console', 'guess'))).to.deep.equal([401, 401, 401, 429]);
  });

  describe('of a configuration', () => {
    const throttleLimits = {
      failures: 5,
      sourceFailures: 3,
      delay: 1000,
      maxDelay: 900_000,
      reset: 3_600_000,
      entries: 10,
    };
    const request = new IncomingMessage(new Socket());
    const from = (): string => '192.0.2.1';

    it('delays for at most a minute, by a monotonic clock', () => {
      const throttle = newClientThrottle([newConfiguredClient('console')], throttleLimits, from);
      for (let i = 0; i < 20; i++) throttle?.failed('console', request);
      const refused = (): void => throttle?.checkAllowed('console', request);
      expect(refused).to.throw(OAuthError).with.property('retryAfterSeconds', 60);
      const clock = Date.now;
      Date.now = () => clock() + 3_600_000;
      try {
        expect(refused).to.throw(OAuthError);
      } finally {
        Date.now = clock;
      }
    });

    it('is disabled for the default client', () => {
      const clients = [newConfiguredClient('platform', { wellKnownSecret: 'platform' })];
      expect(newClientThrottle(clients, throttleLimits, from)).to.equal(undefined);
    });
  });
});
