// The identities of users, which users link and unlink themselves. Only the person that the provider has just authenticated is linked,
// and never to a second user.
import { identityName } from '../../../apis/iam/v1beta1/identity-resource.ts';
import { isAlreadyExists } from '../../../apis/meta/v1/errors.ts';
import type { CallContext } from '../../cluster/call-context.ts';
import type { CredentialDirectory, UserID } from '../users/account.ts';
import type { Identity, IdentityStore } from '../users/identity-store.ts';
import { displayNameOf } from './person-rules.ts';
import type { Provider, UpstreamPerson } from './provider.ts';

interface AccountLinksOptions {
  /** The configured providers. */
  readonly providers: readonly Pick<Provider, 'name' | 'displayName'>[];
  readonly store: Pick<
    IdentityStore,
    'synced' | 'get' | 'ofUser' | 'catchUp' | 'create' | 'delete' | 'deleteBeside'
  >;
  readonly credentials: Pick<CredentialDirectory, 'get'>;
  /** Ms since the epoch. */
  readonly now: () => number;
}

/** An identity of a user, for display. */
export interface LinkedIdentity extends Pick<Identity, 'name' | 'displayName' | 'linkedAt'> {
  /** Display name of the provider, or its name if it is not configured any more. */
  readonly provider: string;
}

export type LinkOutcome = 'linked' | 'already linked' | 'belongs to another user' | 'too many';

type UnlinkOutcome = 'unlinked' | 'last way to sign in';

/** Each identity is an object that all replicas cache. */
const MAX_IDENTITIES = 10;

export class AccountLinks {
  readonly #options: AccountLinksOptions;

  constructor(options: AccountLinksOptions) {
    this.#options = options;
  }

  /** False while identities can be missing. */
  get synced(): boolean {
    return this.#options.store.synced;
  }

  /** The oldest first. */
  of(user: UserID): readonly LinkedIdentity[] {
    return this.#options.store
      .ofUser(user)
      .map(({ name, provider, displayName, linkedAt = 0 }) => {
        return { name, displayName, linkedAt, provider: this.#find(provider)?.displayName ?? provider };
      })
      .sort((one, other) => one.linkedAt - other.linkedAt);
  }

  /** Display name of the provider of an identity; undefined if there is no such identity or provider. */
  providerOf(identity: string): string | undefined {
    return this.#find(this.#options.store.get(identity)?.provider)?.displayName;
  }

  /** Throws StatusError during an outage of the cluster. */
  async link(
    provider: string,
    { issuer, subject, name }: UpstreamPerson,
    user: UserID,
    call: CallContext,
  ): Promise<LinkOutcome> {
    const { store, now } = this.#options;
    const link = { provider, issuer, subject, user: user.name, userUID: user.uid };
    const identity = identityName(link);
    if (store.ofUser(user).length >= MAX_IDENTITIES && !store.get(identity)) return 'too many';
    try {
      await store.create({ ...link, displayName: displayNameOf(name) }, now(), call.signal);
      return 'linked';
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      await store.catchUp(identity, call);
      const existing = store.get(identity);
      const isOwn = existing?.user === user.name && existing.userUID === user.uid;
      return isOwn ? 'already linked' : 'belongs to another user';
    }
  }

  /** Has no effect on identities of other users. Throws StatusError during an outage of the cluster. */
  async unlink(name: string, user: UserID, signal: AbortSignal): Promise<UnlinkOutcome> {
    const { store } = this.#options;
    const unlinked = store.ofUser(user).find((identity) => identity.name === name);
    if (!unlinked) return 'unlinked';
    if (this.#hasPassword(user)) {
      await store.delete(unlinked, signal);
      return 'unlinked';
    }
    for (const kept of this.#usable(user)) {
      if (kept.name !== name && (await store.deleteBeside(unlinked, kept, signal))) return 'unlinked';
    }
    return 'last way to sign in';
  }

  /** Whether the user has a password, or an identity of a configured provider. */
  canSignIn(user: UserID): boolean {
    return this.#hasPassword(user) || this.#usable(user).length > 0;
  }

  #hasPassword({ name, uid }: UserID): boolean {
    return this.#options.credentials.get(name)?.userUID === uid;
  }

  #usable(user: UserID): readonly Identity[] {
    return this.#options.store.ofUser(user).filter(({ provider }) => this.#find(provider));
  }

  #find(name: string | undefined): Pick<Provider, 'name' | 'displayName'> | undefined {
    return this.#options.providers.find((provider) => provider.name === name);
  }
}
