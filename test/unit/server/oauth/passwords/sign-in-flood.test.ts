// Tests of password sign-ins while many addresses send wrong passwords, with the real throttle and the real hash queue.
import { expect } from 'chai';
import { OAuthError } from '../../../../../apis/oauth/oauth-error.ts';
import { PasswordHasher } from '../../../../../server/oauth/passwords/password-hasher.ts';
import { PasswordSignIn } from '../../../../../server/oauth/passwords/password-sign-in.ts';
import { memoryThrottle } from '../../../../support/oauth/memory-failures.ts';
import { MemoryCredentials } from '../../../../support/oauth/memory-users.ts';
import { newAccount } from '../../../../support/oauth/new-account.ts';
import { NO_FACTORS_NEEDED } from '../../../../support/oauth/second-factors.ts';
import { log } from '../../../../support/oauth/signed-in.ts';

const queue = { concurrency: 2, length: 64, timeoutMs: 30_000 };
const limits = {
  failures: 5,
  sourceFailures: 50,
  delay: 1000,
  maxDelay: 900_000,
  reset: 3_600_000,
  entries: 100_000,
};

describe('a flood of sign-ins from many addresses', () => {
  for (const [target, userOf] of [
    ['one user', () => 'alice'],
    ['many users', (index: number) => `user-${index}`],
  ] as const) {
    it(`does not reject a user at a known address when it targets ${target}`, async () => {
      const hasher = new PasswordHasher({ memory: 8 * 1024 * 1024, iterations: 1, queue });
      const credentials = new MemoryCredentials();
      const alice = newAccount('alice');
      const signIn = new PasswordSignIn({
        factorPolicy: NO_FACTORS_NEEDED,
        ready: () => true,
        users: new Map([[alice.name, alice]]),
        credentials,
        decoys: { of: (name) => `decoy of ${name}` },
        hasher,
        throttle: memoryThrottle(limits, Date.now),
        records: { record: () => undefined },
        providers: undefined,
        now: Date.now,
        log,
        settleMs: 20,
      });
      const attempt = (user: string, password: string, source: string): Promise<unknown> =>
        signIn
          .check({
            method: 'password_grant',
            client: 'platform',
            userAgent: 'curl/8',
            requestID: 'r-1',
            user,
            password,
            source,
            signal: new AbortController().signal,
          })
          .then(() => 200)
          .catch((error: unknown) => (error instanceof OAuthError ? error.status : error));
      const passwordHash = await hasher.hash('secret', { caller: 'user test' });
      await credentials.set('alice', {
        passwordHash,
        userUID: alice.uid,
        mustChange: false,
        changedAt: 1000,
      });
      expect(await attempt('alice', 'secret', '192.0.2.1')).to.equal(200);
      const flood = Array.from({ length: 300 }, (_, index) =>
        attempt(userOf(index), 'wrong', `198.51.${index >> 8}.${index & 255}`),
      );
      const known = Array.from({ length: 20 }, () => attempt('alice', 'secret', '192.0.2.1'));
      expect(await Promise.all(known)).to.deep.equal(known.map(() => 200));
      expect(await Promise.all(flood)).to.include(503);
    });
  }
});
