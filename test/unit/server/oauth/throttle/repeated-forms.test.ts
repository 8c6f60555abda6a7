// Attacks on the throttle of sign-ins by repeated requests, which count once: more guesses, and locking a user out. Token endpoint
// and throttle are real.
import { expect } from 'chai';
import { tokenHandler } from '../../../../../server/oauth/endpoints/token.ts';
import { PasswordSignIn } from '../../../../../server/oauth/passwords/password-sign-in.ts';
import { LoginThrottle } from '../../../../../server/oauth/throttle/login-throttle.ts';
import { MemoryCredentials } from '../../../../support/oauth/memory-users.ts';
import { newAccount } from '../../../../support/oauth/new-account.ts';
import { NO_GRANTS } from '../../../../support/oauth/no-grants.ts';
import { newClient } from '../../../../support/oauth/oauth-clients.ts';
import { basic, OAuthEndpoint } from '../../../../support/oauth/oauth-endpoint.ts';
import { log } from '../../../../support/oauth/signed-in.ts';

const LIMITS = {
  failures: 5,
  sourceFailures: 50,
  delay: 1000,
  maxDelay: 900_000,
  reset: 3_600_000,
  entries: 1000,
};
const PASSWORD = 'correct horse';
const TOKENS = { access_token: 'a', token_type: 'Bearer', expires_in: 1 } as const;
const ATTACKER = '198.51.100.9';
const HOME = '192.0.2.1';

class Scene {
  now = 1_000_000;
  /** Passwords that were compared with the one of alice. */
  readonly compared: string[] = [];
  readonly #endpoint: OAuthEndpoint;

  constructor() {
    const now = (): number => this.now;
    const alice = newAccount('alice');
    const credentials = new MemoryCredentials();
    const signIn = new PasswordSignIn({
      ready: () => true,
      users: new Map([[alice.name, alice]]),
      credentials,
      decoys: { of: () => undefined },
      hasher: {
        needsRehash: () => false,
        hash: (password) => Promise.resolve(password),
        verify: (hash, password, options) => {
          options?.begin?.();
          this.compared.push(password);
          return Promise.resolve(hash === password);
        },
      },
      throttle: new LoginThrottle({ limits: LIMITS, digest: (kind, value) => `${kind}.${value}`, now }),
      records: { record: () => undefined },
      log,
      settleMs: 0,
    });
    this.#endpoint = new OAuthEndpoint(
      tokenHandler({
        clients: { get: (id) => newClient(id), checkSecret: () => true },
        grants: {
          ...NO_GRANTS,
          password: {
            exchange: async ({ form, client: { id: client }, ...attempt }) => {
              const given = { user: form.get('username') ?? '', password: form.get('password') ?? '' };
              await signIn.check({ ...attempt, ...given, client, method: 'password_grant' });
              return TOKENS;
            },
          },
        },
        sourceOf: ({ headers }) => String(headers['x-source']),
        monotonic: now,
        metrics: { tokenRequest: () => undefined },
      }),
    );
    const stored = { userUID: alice.uid, passwordHash: PASSWORD, mustChange: false, changedAt: 1 };
    void credentials.set('alice', stored);
  }

  start(): Promise<unknown> {
    return this.#endpoint.start();
  }

  close(): Promise<void> {
    return this.#endpoint.close();
  }

  /** Status of a sign-in as alice. */
  async send(method: 'header' | 'form', password: string, source = ATTACKER): Promise<number> {
    const form = { grant_type: 'password', username: 'alice', password };
    const secret = { client_id: 'platform', client_secret: 'x' };
    const { status } =
      method === 'header'
        ? await this.#endpoint.post(form, { ...basic('platform', 'x'), 'x-source': source })
        : await this.#endpoint.post({ ...form, ...secret }, { 'x-source': source });
    return status;
  }
}

type Strategy = (scene: Scene, guess: string) => Promise<unknown>;

const STRATEGIES: Readonly<Record<string, Strategy>> = {
  'one method': (scene, guess) => scene.send('form', guess),
  'both methods': async (scene, guess) => {
    await scene.send('header', guess);
    await scene.send('form', guess);
  },
  'both methods at once': (scene, guess) =>
    Promise.all([scene.send('header', guess), scene.send('form', guess)]),
  'two passwords at once, by both methods': (scene, guess) =>
    Promise.all([guess, `${guess}x`].flatMap((one) => [scene.send('header', one), scene.send('form', one)])),
  'alternating methods, with the last password again': async (scene, guess) => {
    await scene.send('header', scene.compared.at(-1) ?? 'first');
    await scene.send('form', guess);
  },
};

describe('repeated sign-ins', () => {
  let scene: Scene;
  beforeEach(async () => {
    scene = new Scene();
    await scene.start();
  });
  afterEach(() => scene.close());

  for (const [name, strategy] of Object.entries(STRATEGIES)) {
    it(`give a guesser no more guesses: ${name}`, async () => {
      for (let step = 0; step < 80; step++) {
        await strategy(scene, `guess ${step}`);
        scene.now += 200;
      }
      // Five failures without delay, then delays of 1, 2, 4 and 8 seconds.
      expect(new Set(scene.compared).size).to.be.within(5, 9);
      expect(scene.compared.length).to.be.at.most(9);
    });
  }

  it('lock a user out only after five passwords were compared', async () => {
    for (let i = 0; i < 4; i++) {
      for (const method of ['header', 'form'] as const) await scene.send(method, `guess ${i}`);
    }
    expect(scene.compared).to.have.length(4);
    for (const method of ['header', 'form'] as const)
      expect(await scene.send(method, PASSWORD, HOME)).to.equal(200);
    await scene.send('form', 'guess 5');
    expect(await scene.send('form', PASSWORD, '203.0.113.1')).to.equal(429);
    expect(await scene.send('form', PASSWORD, HOME), 'a known address').to.equal(200);
  });

  it('never give a correct password the error of a wrong one, also from the same address', async () => {
    const wrong = [scene.send('header', 'guess'), scene.send('form', 'guess')];
    const right = [scene.send('form', PASSWORD), scene.send('header', PASSWORD)];
    expect(await Promise.all(right)).to.deep.equal([200, 200]);
    expect(await Promise.all(wrong)).to.deep.equal([400, 400]);
    expect(scene.compared.filter((password) => password === 'guess')).to.have.length(1);
  });

  it('count for each address', async () => {
    await scene.send('header', 'guess');
    await scene.send('form', 'guess', HOME);
    expect(scene.compared).to.deep.equal(['guess', 'guess']);
  });
});
