/** A user as the token handler needs one; a User object without its bookkeeping. */
export interface Account {
  readonly name: string;
  readonly uid: string;
  readonly email: string;
  readonly displayName: string;
  readonly groups: readonly string[];
  readonly disabled: boolean;
}

/** Which user it is: one that was made anew under an old name is another one. */
export type UserID = Pick<Account, 'name' | 'uid'>;

/** Users, from the cache. */
export interface UserDirectory {
  /** False while the cache is not filled, or when the cluster was silent for too long: then `get` says nothing. */
  readonly synced: boolean;
  get(name: string): Account | undefined;
  /**
   * Reads one past the cache, where there is one, so that `get` knows it. Throws ServiceUnavailable when the cluster
   * does not answer, or when too many ask.
   */
  catchUp?(name: string, signal: AbortSignal): Promise<void>;
}

export interface Credential {
  /** Of its object: one that was deleted and made anew is another password, whatever its time says. */
  readonly uid: string;
  /** Argon2id in PHC form, or bcrypt of an imported user. */
  readonly passwordHash: string;
  /** The uid of the user that it belongs to: a user made anew under an old name has no password. */
  readonly userUID: string;
  readonly mustChange: boolean;
  /** Ms since the epoch; logins before it are over. */
  readonly changedAt: number;
  readonly resourceVersion: string;
}

/** Which password of a user it is: the one that this object has held since then. */
export type PasswordID = Pick<Credential, 'uid' | 'changedAt'>;

/** What is written of one; the rest is the cluster's. */
export type NewCredential = Omit<Credential, 'uid' | 'resourceVersion'>;

/** With `resourceVersion` it is written only when the object was not changed since. */
export type WrittenCredential = NewCredential & Partial<Pick<Credential, 'resourceVersion'>>;

/** Password hashes, from the cache; the members are those of UserDirectory. */
export interface CredentialDirectory {
  readonly synced: boolean;
  /** Undefined for a user without a password. */
  get(user: string): Credential | undefined;
  catchUp?(user: string, signal: AbortSignal): Promise<void>;
}

/** Password hashes, to be changed too. Kept apart from users, so that whoever may list users does not see them. */
export interface CredentialStore extends CredentialDirectory {
  /**
   * Creates or replaces. Throws Conflict (StatusError) when it was changed since. `changedAt` is kept when only the hash
   * is renewed with the same password.
   */
  set(user: string, credential: WrittenCredential, signal: AbortSignal): Promise<void>;
}
