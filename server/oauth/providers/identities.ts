// Maps people of identity providers to users. Only the Identity object of a person decides who the person is; nothing else that a
// provider says leads to an existing user.
import type { Logger } from 'pino';
import { identityName } from '../../../apis/iam/v1beta1/identity-resource.ts';
import type { User } from '../../../apis/iam/v1beta1/user-resource.ts';
import { isAlreadyExists } from '../../../apis/meta/v1/errors.ts';
import { record, text } from '../../../apis/reading/unknown-value.ts';
import type { CallContext } from '../../cluster/call-context.ts';
import type { KeyRing } from '../keys/key-ring.ts';
import type { Seal } from '../keys/seal.ts';
import { type Authentication, byIdentity, effectiveAccount, type IdentityProof } from '../sessions/proof.ts';
import type { Account, CredentialDirectory } from '../users/account.ts';
import type { Identity, IdentityStore } from '../users/identity-store.ts';
import { accountOf, type Users } from '../users/user-directory.ts';
import {
  displayNameOf,
  emailOf,
  type GroupRules,
  isFreeForPeople,
  passedGroups,
  shortText,
  userNameOf,
} from './person-rules.ts';
import type { AuthenticatedPerson, UpstreamPerson } from './provider.ts';
import type { RefreshTokens } from './refresh-tokens.ts';

/** How the people of a provider get users. */
export interface AccountRules {
  /** Name of the provider. */
  readonly name: string;
  /**
   * At the first sign-in, `create`: a new user; `choose`: a new user, whose name the person chooses. `link`: an administrator links each
   * person to a user.
   */
  readonly accounts: 'create' | 'choose' | 'link';
  readonly groups: GroupRules;
}

/** Why an authenticated person cannot sign in. `name_missing`: the person must choose a name on a page first. */
export type PersonRefusal =
  | 'not_linked'
  | 'name_missing'
  | 'name_invalid'
  | 'name_taken'
  | 'user_deleted'
  | 'disabled'
  | 'too_many_groups';

export interface KnownPerson {
  /** With the groups of the provider. */
  readonly account: Account;
  readonly authentication: Authentication;
}

/** An authenticated person who has no user yet. */
export interface NewPerson {
  /** Name of the provider. */
  readonly provider: string;
  readonly person: Pick<UpstreamPerson, 'issuer' | 'subject' | 'name' | 'displayName' | 'email'>;
  /** What its first session needs except the Identity. */
  readonly proof: Omit<IdentityProof, 'name' | 'uid'>;
  /** Of the provider. */
  readonly refreshToken?: string;
  readonly authTime: number;
  readonly amr: readonly string[];
}

/** After the rules of the provider. */
type ConfirmedFacts = Pick<IdentityProof, 'groups' | 'verifiedEmail'>;

interface IdentitiesOptions {
  readonly store: Pick<IdentityStore, 'get' | 'catchUp' | 'create'>;
  readonly users: Pick<Users, 'get' | 'catchUp' | 'read' | 'create' | 'delete'>;
  readonly credentials: Pick<CredentialDirectory, 'get'>;
  readonly keys: Pick<KeyRing, 'mac' | 'checkMac'>;
  readonly seal: Pick<Seal, 'seal'>;
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
/** Of all writes. */
const CREATION_TIMEOUT_MS = 10_000;
const PURPOSE = 'user-of-identity';

export class Identities {
  readonly #options: IdentitiesOptions;

  constructor(options: IdentitiesOptions) {
    this.#options = options;
  }

  /**
   * The user of an authenticated person, or a new person who chooses a name. Throws ServiceUnavailable during an outage of the
   * cluster.
   */
  async resolve(
    authenticated: AuthenticatedPerson,
    rules: AccountRules,
    call: CallContext,
  ): Promise<KnownPerson | NewPerson | PersonRefusal> {
    const found = await this.#newPerson(authenticated, rules);
    if (!found) return 'too_many_groups';
    const identity = await this.#find(found, call);
    if (identity) return this.#known(found, identity, call);
    if (rules.accounts === 'choose') return found;
    if (rules.accounts === 'link') return 'not_linked';
    const user = userNameOf(found.person.name);
    return user === undefined ? 'name_invalid' : this.#create(found, user, call);
  }

  /**
   * Creates the user of a person with the name that the person has chosen. A person who has a user meanwhile must sign in again, because
   * the same form can be sent twice. Throws like `resolve`.
   */
  async createNamed(
    found: NewPerson,
    user: string,
    rules: AccountRules | undefined,
    call: CallContext,
  ): Promise<KnownPerson | PersonRefusal | 'named_meanwhile'> {
    // The configuration may have changed meanwhile.
    if (rules?.accounts !== 'choose') return 'not_linked';
    if (!isFreeForPeople(user)) return 'name_taken';
    if (await this.#find(found, call)) return 'named_meanwhile';
    return this.#create(found, user, call);
  }

  /** Name of the user to whom a person is linked, from the cache. */
  userOf(person: Pick<Identity, 'provider' | 'issuer' | 'subject'>): string | undefined {
    return this.#options.store.get(identityName(person))?.user;
  }

  /** What a session takes over from the provider at each confirmation; undefined if there are too many groups. */
  confirmed(person: UpstreamPerson, rules: AccountRules): ConfirmedFacts | undefined {
    const groups = passedGroups(person.groups, rules.groups, this.#options.administrators);
    const verifiedEmail = person.emailVerified === true ? emailOf(person.email) : undefined;
    return groups && { groups, ...(verifiedEmail === undefined ? {} : { verifiedEmail }) };
  }

  /** Undefined if there are too many groups. */
  async #newPerson(
    { person, upstream, refreshToken, authTime }: AuthenticatedPerson,
    rules: AccountRules,
  ): Promise<NewPerson | undefined> {
    const { seal, now } = this.#options;
    const confirmed = this.confirmed(person, rules);
    if (!confirmed) return undefined;
    const { issuer, subject, amr = [] } = person;
    const [name, displayName, email] = [person.name, person.displayName, person.email].map(shortText);
    const checkedAt = now();
    const sealed = upstream === undefined ? {} : { upstream: await seal.seal(upstream) };
    return {
      provider: rules.name,
      person: { issuer, subject, name, displayName, email },
      proof: { kind: 'identity', ...confirmed, checkedAt, ...sealed },
      ...(refreshToken === undefined ? {} : { refreshToken }),
      authTime: Math.min(authTime ?? checkedAt, checkedAt),
      amr,
    };
  }

  async #known(
    { proof, refreshToken, authTime, amr }: NewPerson,
    identity: Identity,
    call: CallContext,
  ): Promise<KnownPerson | PersonRefusal> {
    const account = await this.#userOf(identity, call);
    if (!account) return 'user_deleted';
    if (account.disabled) return 'disabled';
    const { credentials, refreshTokens } = this.#options;
    if (refreshToken !== undefined) await refreshTokens.set(identity, refreshToken, call.signal);
    const { name, uid } = identity;
    const complete = { ...proof, name, uid };
    const password = credentials.get(account.name);
    return {
      account: effectiveAccount(account, complete),
      authentication: byIdentity(complete, password, authTime, amr),
    };
  }

  async #find({ provider, person }: NewPerson, call: CallContext): Promise<Identity | undefined> {
    const { store } = this.#options;
    const name = identityName({ ...person, provider });
    // Another replica may have created it a moment ago.
    if (!store.get(name)) await store.catchUp(name, call);
    return store.get(name);
  }

  async #userOf(
    { user, userUID }: Pick<Identity, 'user' | 'userUID'>,
    call: CallContext,
  ): Promise<Account | undefined> {
    const { users } = this.#options;
    if (users.get(user)?.uid !== userUID) await users.catchUp?.(user, call);
    const account = users.get(user);
    return account?.uid === userUID ? account : undefined;
  }

  /**
   * The user first, then its Identity. A MAC in an annotation says for whom the user was created, so that another replica, or the next
   * sign-in after a crash, completes the link. After a few minutes it has no effect, and an Identity that an administrator has deleted
   * stays deleted. Completed without the client: otherwise, a person who disconnects in between could take any number of names.
   */
  async #create(
    found: NewPerson,
    user: string,
    { signal: _ofClient, ...caller }: CallContext,
  ): Promise<KnownPerson | PersonRefusal> {
    const { users, store, now, log } = this.#options;
    const call = { ...caller, signal: AbortSignal.timeout(CREATION_TIMEOUT_MS) };
    const { provider, person } = found;
    const { issuer, subject } = person;
    const identity = identityName({ provider, issuer, subject });
    const created = await this.#createUser(found, identity, user, call);
    if (!created) return 'name_taken';
    const { name, uid: userUID } = accountOf(created);
    const link = { provider, issuer, subject, user: name, userUID, displayName: displayNameOf(person.name) };
    try {
      const linked = await store.create(link, now(), call.signal);
      log.info({ user, provider, identity }, 'user created for a person of an identity provider');
      return await this.#known(found, linked, call);
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      await store.catchUp(identity, call);
      const linked = store.get(identity);
      // The person has chosen another name in another browser.
      if (linked && linked.userUID !== userUID) await users.delete(name, userUID, call.signal);
      return linked ? this.#known(found, linked, call) : 'name_taken';
    }
  }

  /** Undefined if the name belongs to another user. */
  async #createUser(
    { person }: NewPerson,
    identity: string,
    user: string,
    { signal }: CallContext,
  ): Promise<User | undefined> {
    const { users, keys, group, now } = this.#options;
    const annotation = `${group}/identity`;
    const message = JSON.stringify([user, identity]);
    const displayName = displayNameOf(person.displayName);
    const email = emailOf(person.email);
    const created: User = {
      metadata: { name: user, annotations: { [annotation]: keys.mac(PURPOSE, message) } },
      spec: { ...(displayName === '' ? {} : { displayName }), ...(email === undefined ? {} : { email }) },
    };
    try {
      return await users.create(created, signal);
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      const existing = await users.read(user, signal);
      const { creationTimestamp = '' } = existing?.metadata ?? {};
      const annotations = record(existing?.metadata.annotations);
      const isRecent = now() - Date.parse(creationTimestamp) < COMPLETION_MS;
      return isRecent && keys.checkMac(PURPOSE, message, text(annotations[annotation]))
        ? existing
        : undefined;
    }
  }
}
