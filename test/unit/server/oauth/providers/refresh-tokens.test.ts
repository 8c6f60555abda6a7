// Tests of the refresh tokens of OpenID providers, which replicas use one after another.
import { expect } from 'chai';
import { ProviderUnavailable } from '../../../../../server/oauth/providers/provider.ts';
import { MAX_USE_MS, RefreshTokens } from '../../../../../server/oauth/providers/refresh-tokens.ts';
import type { Identity, StoredRefresh } from '../../../../../server/oauth/users/identity-store.ts';
import { rejection } from '../../../../support/rejection.ts';
import { until } from '../../../../support/until.ts';

const CALL = { signal: new AbortController().signal };
const IDENTITY: Identity = {
  name: 'i-1',
  uid: 'uid-of-i-1',
  provider: 'company',
  issuer: 'https://sso',
  subject: 's-1',
  user: 'ada',
  userUID: 'uid-of-ada',
  displayName: '',
};

/** The Identity object that all replicas share. */
class SharedIdentity {
  stored: StoredRefresh | undefined = { token: 'sealed one' };
  reads = 0;

  replica(monotonic?: () => number): RefreshTokens {
    return new RefreshTokens({
      store: {
        updateRefresh: async (_identity, change) => {
          this.reads++;
          const changed = change(this.stored);
          if (changed) this.stored = changed;
          return changed;
        },
      },
      seal: {
        seal: async (text) => `sealed ${text}`,
        open: async (sealed) => sealed?.slice('sealed '.length),
      },
      now: Date.now,
      ...(monotonic ? { monotonic } : {}),
    });
  }
}

describe('RefreshTokens', () => {
  let shared: SharedIdentity;
  beforeEach(() => {
    shared = new SharedIdentity();
  });

  it('uses a token once: another replica waits for the next one', async () => {
    const provider = Promise.withResolvers<{ refreshToken: string }>();
    const used: (string | undefined)[] = [];
    const first = shared.replica().use(IDENTITY, (token) => {
      used.push(token);
      return provider.promise;
    });
    await until(() => used.length === 1);
    const { reads } = shared;
    const second = shared.replica().use(IDENTITY, async (token) => {
      used.push(token);
      return { refreshToken: 'three' };
    });
    await until(() => shared.reads > reads);
    expect(used).to.deep.equal(['one']);
    provider.resolve({ refreshToken: 'two' });
    await Promise.all([first, second]);
    expect(used).to.deep.equal(['one', 'two']);
    expect(shared.stored).to.deep.equal({ token: 'sealed three' });
  });

  it('keeps a token that the provider does not replace, and the next one of an outage after its use', async () => {
    const replica = shared.replica();
    await replica.use(IDENTITY, async () => 'disabled');
    await replica.use(IDENTITY, async () => ({ refreshToken: undefined }));
    await rejection(replica.use(IDENTITY, () => Promise.reject(new ProviderUnavailable('down'))));
    expect(shared.stored).to.deep.equal({ token: 'sealed one' });
    const late = new ProviderUnavailable('no userinfo', { refreshToken: 'two' });
    expect(await rejection(replica.use(IDENTITY, () => Promise.reject(late)))).to.equal(late);
    expect(shared.stored).to.deep.equal({ token: 'sealed two' });
  });

  it('keeps the token of a sign-in during a use', async () => {
    const replica = shared.replica();
    const use = async () => {
      await shared.replica().set(IDENTITY, 'of the sign-in', CALL.signal);
      return { refreshToken: 'two' };
    };
    await replica.use(IDENTITY, use);
    expect(shared.stored).to.deep.equal({ token: 'sealed of the sign-in' });
  });

  it('continues after a replica that has stopped during a use, whatever its clock says', async () => {
    shared.stored = { token: 'sealed one', usedTime: '2099-01-01T00:00:00Z' };
    let clock = 0;
    const monotonic = (): number => (clock += MAX_USE_MS);
    const result = await shared.replica(monotonic).use(IDENTITY, async (token) => `used ${token}`);
    expect(result).to.equal('used one');
    expect(shared.stored).to.deep.equal({ token: 'sealed one' });
  });

  it('asks without a token if the provider has issued none', async () => {
    shared.stored = undefined;
    const result = await shared.replica().use(IDENTITY, async (token) => `used ${token}`);
    expect(result).to.equal('used undefined');
  });
});
