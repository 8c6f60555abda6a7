// Signs people out at the providers with which their sessions began, where the configuration asks for it (OpenID Connect RP-Initiated
// Logout).

import type { Seal } from '../keys/seal.ts';
import type { StoredSession } from '../sessions/session.ts';
import type { IdentityDirectory } from '../users/identity-store.ts';
import type { ConfiguredProvider } from './configured-provider.ts';
import type { RedirectProvider, SignOutOptions } from './provider.ts';

interface ProviderSignOutOptions {
  readonly providers: readonly ConfiguredProvider<RedirectProvider>[];
  readonly directory: Pick<IdentityDirectory, 'get'>;
  /** Of the state of the provider in sessions. */
  readonly seal: Pick<Seal, 'open'>;
}

type Authenticated = Pick<StoredSession, 'authentication'>;

export class ProviderSignOut {
  readonly #options: ProviderSignOutOptions;

  constructor(options: ProviderSignOutOptions) {
    this.#options = options;
  }

  /** Whether a sign-out can lead to a provider. */
  get isUsed(): boolean {
    return this.#options.providers.some(({ provider }) => provider.signsOut);
  }

  /** Name of the provider of a session, if people sign out there too. */
  providerOf(session: Authenticated): string | undefined {
    return this.#find(session)?.name;
  }

  /** The address at the provider; undefined if the provider has none. */
  async addressFor(session: Authenticated, options: SignOutOptions): Promise<URL | undefined> {
    const { authentication } = session;
    const { upstream } = authentication?.proof.kind === 'identity' ? authentication.proof : {};
    return this.#find(session)?.signOut?.(await this.#options.seal.open(upstream), options);
  }

  #find({ authentication }: Authenticated): RedirectProvider | undefined {
    const { providers, directory } = this.#options;
    if (authentication?.proof.kind !== 'identity') return undefined;
    const name = directory.get(authentication.proof.name)?.provider;
    return providers.find(({ provider }) => provider.name === name && provider.signsOut)?.provider;
  }
}
