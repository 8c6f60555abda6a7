// The groups that a user has, or can have, from identity providers. Providers are not asked: an OpenID provider answers only about a
// person who is signed in.
import { newServiceUnavailable } from '../../../apis/meta/v1/errors.ts';
import type { SessionStore } from '../sessions/session.ts';
import type { UserID } from '../users/account.ts';
import type { IdentityStore } from '../users/identity-store.ts';
import type { ConfiguredProvider } from './configured-provider.ts';
import type { GroupRules } from './person-rules.ts';

interface GroupGrantsOptions {
  readonly providers: readonly Pick<ConfiguredProvider, 'rules'>[];
  readonly store: Pick<IdentityStore, 'synced' | 'ofUser'>;
  readonly sessions: Pick<SessionStore, 'ofUser'>;
}

/** Stands for groups whose names are unknown. */
export const EVERY_GROUP = '';

export class GroupGrants {
  readonly #options: GroupGrantsOptions;

  constructor(options: GroupGrantsOptions) {
    this.#options = options;
  }

  /**
   * The groups in the sessions of the user; for each identity without a session, those that its provider may grant. Otherwise a caller
   * who can end the sessions would know of no groups. Throws ServiceUnavailable while the identities are unknown.
   */
  of(user: UserID): readonly string[] {
    const { providers, store, sessions } = this.#options;
    if (providers.length === 0) return [];
    if (!store.synced) throw newServiceUnavailable('the cache of identities is not synced', 1);
    const known = new Map<string, readonly string[]>();
    for (const { userUID, authentication } of sessions.ofUser(user.name)) {
      const proof = authentication?.proof;
      if (proof?.kind !== 'identity' || userUID !== user.uid) continue;
      known.set(proof.name, [...(known.get(proof.name) ?? []), ...proof.groups]);
    }
    const unknown = store
      .ofUser(user)
      .filter(({ name }) => !known.has(name))
      .flatMap(({ provider }) => providers.filter(({ rules }) => rules.name === provider))
      .flatMap(({ rules }) => grantable(rules.groups));
    return [...new Set([...[...known.values()].flat(), ...unknown])];
  }
}

function grantable({ allow, prefix }: GroupRules): readonly string[] {
  return allow.map((pattern) => (pattern.endsWith('*') ? EVERY_GROUP : `${prefix}${pattern}`));
}
