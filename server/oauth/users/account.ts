/** A user for sign-in and tokens: the User object without Kubernetes metadata. */
export interface Account {
  readonly name: string;
  readonly uid: string;
  readonly email: string;
  readonly displayName: string;
  readonly groups: readonly string[];
  readonly disabled: boolean;
}

/** Identity of a user: a user that was recreated under the same name has another uid. */
export type UserID = Pick<Account, 'name' | 'uid'>;

/** Users, from the cache. */
export interface UserDirectory {
  /** False until the first list is complete, and while the cache is stale: then `get` is not reliable. */
  readonly synced: boolean;
  get(name: string): Account | undefined;
  /**
   * Reads one user from the cluster into the cache, if there is one. Throws ServiceUnavailable during an outage of the
   * cluster, and above the rate limit.
   */
  catchUp?(name: string, signal: AbortSignal): Promise<void>;
}

export interface Credential {
  /** Uid of the Credential object: a recreated object is another password, even with the same time. */
  readonly uid: string;
  /** Argon2id in PHC format, or bcrypt of an imported user. */
  readonly passwordHash: string;
  /** Uid of the user. A user that was recreated under the same name has no password. */
  readonly userUID: string;
  readonly mustChange: boolean;
  /** Ms since the epoch. Sessions with an earlier password are invalid. */
  readonly changedAt: number;
  readonly resourceVersion: string;
}

/** Identity of a password: Credential object and time of its last change. */
export type PasswordID = Pick<Credential, 'uid' | 'changedAt'>;

export type NewCredential = Omit<Credential, 'uid' | 'resourceVersion'>;

/** `resourceVersion` is a precondition. */
export type WrittenCredential = NewCredential & Partial<Pick<Credential, 'resourceVersion'>>;

/** Password hashes, from the cache. Its members have the contract of UserDirectory. */
export interface CredentialDirectory {
  readonly synced: boolean;
  /** Returns undefined for a user without a password. */
  get(user: string): Credential | undefined;
  catchUp?(user: string, signal: AbortSignal): Promise<void>;
}

export interface CredentialStore extends CredentialDirectory {
  /** Creates or replaces. Throws Conflict (StatusError). `changedAt` stays the same when only the hash is renewed. */
  set(user: string, credential: WrittenCredential, signal: AbortSignal): Promise<void>;
}
