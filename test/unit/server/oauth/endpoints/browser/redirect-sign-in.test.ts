// Tests of RedirectSignIn: what counts as a new sign-in at a provider. test/integration has the whole sign-in with a real one.
import { expect } from 'chai';
import { RedirectSignIn } from '../../../../../../server/oauth/endpoints/browser/redirect-sign-in.ts';
import type { LoginRecord } from '../../../../../../server/oauth/passwords/login-records.ts';
import type { RedirectProvider } from '../../../../../../server/oauth/providers/provider.ts';

const ATTEMPT = {
  client: 'console',
  source: '192.0.2.7',
  userAgent: '',
  requestID: 'r',
  caller: 'network 192.0.2.1',
  signal: new AbortController().signal,
};

describe('RedirectSignIn', () => {
  const recorded: LoginRecord[] = [];
  /** `authTime`: what the provider says. */
  function newSignIn(authTime: number | undefined): RedirectSignIn {
    const provider: RedirectProvider = {
      name: 'company',
      displayName: 'Company account',
      problem: undefined,
      usesRefreshTokens: true,
      begin: () => Promise.reject(new Error('not used')),
      finish: async () => ({
        person: { issuer: 'https://login.example.com', subject: 's', groups: [] },
        authTime,
      }),
      revalidate: async () => 'gone',
      run: async () => undefined,
    };
    const rules = { name: 'company', accounts: 'link', groups: { allow: [], prefix: '' } } as const;
    return new RedirectSignIn({
      providers: [{ provider, rules, outageToleranceMs: 0 }],
      identities: { resolve: async () => 'not_linked' },
      links: { link: async () => 'linked' },
      records: { record: (_origin, login) => recorded.push(login) },
    });
  }
  const response = (notBefore: number) => ({
    callback: new URL('https://platform.example.com/oauth/callback/company'),
    state: '',
    secrets: { nonce: '', verifier: '' },
    notBefore,
  });

  it('requires the time of the sign-in from a provider that must ask the person again', async () => {
    for (const [authTime, reason] of [
      [undefined, 'auth_time is missing'],
      [999, 'auth_time is too old'],
    ] as const) {
      const signIn = newSignIn(authTime);
      for (const verdict of [
        await signIn.finish('company', response(1000), ATTEMPT),
        await signIn.link('company', response(1000), ATTEMPT, { name: 'alice', uid: 'uid' }),
      ]) {
        expect(verdict).to.have.property('refusal').that.contains('did not ask you to sign in again');
        expect(recorded.at(-1)).to.include({ outcome: 'refused_by_provider', reason });
      }
    }
    const linked = newSignIn(1000).link('company', response(1000), ATTEMPT, { name: 'alice', uid: 'uid' });
    expect(await linked).to.deep.equal({ linked: 'Company account' });
    expect(await newSignIn(undefined).finish('company', response(0), ATTEMPT))
      .to.have.property('refusal')
      .that.contains('not linked');
  });
});
