// Types and store interfaces of users (Account) and password hashes (Credential), for the OAuth endpoints.
// apis/iam/v1beta1 defines the custom resources.
import type { CallContext } from '../../cluster/call-context.ts';

/** A user: the User object without most of its Kubernetes metadata. */
export interface Account {
  readonly name: string;
  readonly uid: string;
  readonly email: string;
  /** Whether an administrator, or the identity provider of the session, has verified this address. */
  readonly emailVerified?: boolean;
  readonly displayName: string;
  readonly groups: readonly string[];
  readonly disabled: boolean;
}

/** Identity of a user: a user that was recreated under the same name has another uid. */
export type UserID = Pick<Account, 'name' | 'uid'>;

/** Objects of one kind by name, from the cache. */
export interface Directory<T> {
  /** False until the first list is complete, and while the cache is stale. While false, `get` may return outdated objects. */
  readonly synced: boolean;
  get(name: string): T | undefined;
  /**
   * Reads one object from the cluster into the cache. Throws ServiceUnavailable during an outage of the cluster, and without a
   * seat for the caller.
   */
  catchUp?(name: string, call: CallContext): Promise<void>;
}

export type UserDirectory = Directory<Account>;

export interface Credential {
  /** UID of the Credential object. A recreated object counts as another password, even with the same `changedTime`. */
  readonly uid: string;
  /** Argon2id in PHC format, or bcrypt of an imported user. */
  readonly passwordHash: string;
  /** UID of the user. A user that was recreated under the same name has no password. */
  readonly userUID: string;
  readonly mustChange: boolean;
  /** Ms since the epoch. Sessions with an earlier password are invalid. */
  readonly changedAt: number;
  readonly resourceVersion: string;
}

/** Identity of a password: Credential object and time of its last change. */
export type PasswordID = Pick<Credential, 'uid' | 'changedAt'>;

export type NewCredential = Omit<Credential, 'uid' | 'resourceVersion'>;

/** Credential to write. A `resourceVersion` is a precondition of the write. */
export type WrittenCredential = NewCredential & Partial<Pick<Credential, 'resourceVersion'>>;

/** Password hashes by user. */
export type CredentialDirectory = Directory<Credential>;

export interface CredentialStore extends CredentialDirectory {
  /** Creates or replaces a credential. A new hash of the same password has the same `changedAt`. Throws Conflict. */
  set(user: string, credential: WrittenCredential, signal: AbortSignal): Promise<void>;
}
