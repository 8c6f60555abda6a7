// Maps people of identity providers to users. Only the Identity object of a person decides who the person is; nothing else that a
// provider says leads to an existing user.
import type { Logger } from 'pino';
import { identityName } from '../../../apis/iam/v1beta1/identity-resource.ts';
import { isAlreadyExists } from '../../../apis/meta/v1/errors.ts';
import { record, text } from '../../../apis/reading/unknown-value.ts';
import type { CallContext } from '../../cluster/call-context.ts';
import type { KeyRing } from '../keys/key-ring.ts';
import { effectiveAccount, type IdentityProof } from '../sessions/proof.ts';
import type { Account, CredentialDirectory, PasswordID } from '../users/account.ts';
import type { Identity, IdentityStore } from '../users/identity-store.ts';
import { accountOf, type Users } from '../users/user-directory.ts';
import { displayNameOf, emailOf, type GroupRules, passedGroups, userNameOf } from './person-rules.ts';
import type { AuthenticatedPerson, UpstreamPerson } from './provider.ts';
import type { RefreshTokens } from './refresh-tokens.ts';
import type { UpstreamSeal } from './upstream-seal.ts';

/** How the people of a provider get users. */
export interface AccountRules {
  /** Name of the provider. */
  readonly name: string;
  /** `create`: a new user at the first sign-in. `link`: an administrator links each person to a user. */
  readonly accounts: 'create' | 'link';
  readonly groups: GroupRules;
}

/** Why an authenticated person cannot sign in. */
export type PersonRefusal =
  | 'not_linked'
  | 'name_invalid'
  | 'name_taken'
  | 'user_deleted'
  | 'disabled'
  | 'too_many_groups';

export interface KnownPerson {
  /** With the groups of the provider. */
  readonly account: Account;
  readonly proof: IdentityProof;
  /** The local password. */
  readonly password: PasswordID | undefined;
}

/** After the rules of the provider. */
export type ConfirmedFacts = Pick<IdentityProof, 'groups' | 'verifiedEmail'>;

export interface IdentitiesOptions {
  readonly store: Pick<IdentityStore, 'get' | 'catchUp' | 'create'>;
  readonly users: Pick<Users, 'get' | 'catchUp' | 'read' | 'create'>;
  readonly credentials: Pick<CredentialDirectory, 'get'>;
  readonly keys: Pick<KeyRing, 'mac' | 'checkMac'>;
  readonly seal: Pick<UpstreamSeal, 'seal'>;
  readonly refreshTokens: Pick<RefreshTokens, 'set'>;
  /** API group, for instance `iam.platform.io`. */
  readonly group: string;
  /** Name of the administrators' group. */
  readonly administrators: string;
  /** Ms since the epoch. */
  readonly now: () => number;
  readonly log: Pick<Logger, 'info'>;
}

/** Time after the creation of a user in which an interrupted first sign-in can be completed, in ms. */
const COMPLETION_MS = 5 * 60_000;
const PURPOSE = 'user-of-identity';

export class Identities {
  readonly #options: IdentitiesOptions;

  constructor(options: IdentitiesOptions) {
    this.#options = options;
  }

  /** The user of an authenticated person. Throws ServiceUnavailable during an outage of the cluster. */
  async resolve(
    { person, upstream, refreshToken }: AuthenticatedPerson,
    rules: AccountRules,
    call: CallContext,
  ): Promise<KnownPerson | PersonRefusal> {
    const name = identityName({ ...person, provider: rules.name });
    const known = await this.#find(name, call);
    const identity =
      known ??
      (rules.accounts === 'create' ? await this.#createUser(name, person, rules, call) : 'not_linked');
    if (typeof identity === 'string') return identity;
    const account = await this.#userOf(identity, call);
    if (!account) return 'user_deleted';
    if (account.disabled) return 'disabled';
    const confirmed = this.confirmed(person, rules);
    if (!confirmed) return 'too_many_groups';
    const { seal, credentials, refreshTokens, now } = this.#options;
    if (refreshToken !== undefined) await refreshTokens.set(identity, refreshToken, call.signal);
    const proof: IdentityProof = {
      kind: 'identity',
      name,
      uid: identity.uid,
      ...confirmed,
      checkedAt: now(),
      ...(upstream === undefined ? {} : { upstream: await seal.seal(upstream) }),
    };
    const password = credentials.get(account.name);
    return { account: effectiveAccount(account, proof), proof, password };
  }

  /** What a session takes over from the provider at each confirmation; undefined if there are too many groups. */
  confirmed(person: UpstreamPerson, rules: AccountRules): ConfirmedFacts | undefined {
    const groups = passedGroups(person.groups, rules.groups, this.#options.administrators);
    const verifiedEmail = person.emailVerified === true ? emailOf(person.email) : undefined;
    return groups && { groups, ...(verifiedEmail === undefined ? {} : { verifiedEmail }) };
  }

  async #find(name: string, call: CallContext): Promise<Identity | undefined> {
    const { store } = this.#options;
    // Another replica may have created it a moment ago.
    if (!store.get(name)) await store.catchUp(name, call);
    return store.get(name);
  }

  async #userOf({ user, userUID }: Identity, call: CallContext): Promise<Account | undefined> {
    const { users } = this.#options;
    if (users.get(user)?.uid !== userUID) await users.catchUp?.(user, call);
    const account = users.get(user);
    return account?.uid === userUID ? account : undefined;
  }

  /**
   * The user first, then its Identity. A MAC in an annotation says for whom the user was created, so that another replica, or the next
   * sign-in after a crash, completes the link. After a few minutes it has no effect, and an Identity that an administrator has deleted
   * stays deleted.
   */
  async #createUser(
    identity: string,
    person: UpstreamPerson,
    { name: provider }: AccountRules,
    call: CallContext,
  ): Promise<Identity | PersonRefusal> {
    const { users, store, keys, group, now, log } = this.#options;
    const user = userNameOf(person.name);
    if (user === undefined) return 'name_invalid';
    const annotation = `${group}/identity`;
    const message = JSON.stringify([user, identity]);
    const displayName = displayNameOf(person.displayName);
    const email = emailOf(person.email);
    const created = await users
      .create(
        {
          metadata: { name: user, annotations: { [annotation]: keys.mac(PURPOSE, message) } },
          spec: { ...(displayName === '' ? {} : { displayName }), ...(email === undefined ? {} : { email }) },
        },
        call.signal,
      )
      .catch(async (error: unknown) => {
        if (!isAlreadyExists(error)) throw error;
        const existing = await users.read(user, call.signal);
        const { creationTimestamp = '' } = existing?.metadata ?? {};
        const annotations = record(existing?.metadata.annotations);
        const isRecent = now() - Date.parse(creationTimestamp) < COMPLETION_MS;
        return isRecent && keys.checkMac(PURPOSE, message, text(annotations[annotation]))
          ? existing
          : undefined;
      });
    if (!created) return 'name_taken';
    const { name, uid: userUID } = accountOf(created);
    const { issuer, subject } = person;
    const link = { provider, issuer, subject, user: name, userUID, displayName: displayNameOf(person.name) };
    try {
      const linked = await store.create(link, now(), call.signal);
      log.info({ user, provider, identity }, 'user created for a person of an identity provider');
      return linked;
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      await store.catchUp(identity, call);
      return store.get(identity) ?? 'name_taken';
    }
  }
}
