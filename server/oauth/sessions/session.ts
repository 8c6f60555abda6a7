import type { RandomBytes } from '../keys/random-bytes.ts';

/** One login: what a refresh token and the access tokens made from it hang on. Times in ms since the epoch. */
export interface Session {
  /** `s-` and 20 characters of base 32 in lower case: the name of the Session object. */
  readonly id: string;
  readonly user: string;
  readonly userUID: string;
  readonly clientID: string;
  readonly scopes: readonly string[];
  /** Address and user agent that signed in, as shown to people; never trusted. */
  readonly source: string;
  readonly userAgent: string;
  readonly createdAt: number;
  readonly lastUsedAt: number;
  /** It ends then even when it is used. */
  readonly notAfter: number;
  /** It ends then when it is not used. */
  readonly idleNotAfter: number;
  /** How often the refresh token was rotated. */
  readonly generation: number;
  /** SHA-256 of the current refresh token, hex. Empty when the client gets none. */
  readonly refreshHash: string;
  /**
   * SHA-256, hex, of the part that all refresh tokens of this session have in common: whoever knows that part but
   * not the current token has one that was used already, however old. Empty when the client gets none.
   */
  readonly familyHash: string;
  /**
   * When the password was set that signed in. Not seen by `createdAt`: another replica may have replaced the password
   * while this one still checked the old one. Absent while nobody has signed in, and from earlier versions.
   */
  readonly passwordAt?: number;
  /** Of the object that held that password; absent with `passwordAt`, and from earlier versions. */
  readonly credentialUID?: string;
}

/** The user of a session that waits for one (codes/device-requests.ts): no user can be called so. */
export const NOBODY = '-';

/** A session with the version under which it was read, for writes with a precondition. */
export interface StoredSession extends Session {
  readonly uid: string;
  readonly resourceVersion: string;
}

/**
 * Where sessions are kept. Every implementation runs test/conformance/session-store.ts. What it returns has a valid
 * MAC and is not expired: other objects are as good as absent.
 */
export interface SessionStore {
  /**
   * An id for a session that is to be created. It can be told from invented ids without asking the cluster, so that
   * those use up no lookups. Throws ServiceUnavailable (StatusError) while there is no key.
   */
  newID(random: RandomBytes): string;
  /** Throws AlreadyExists (StatusError) for an id that is taken, ServiceUnavailable without the cluster. */
  create(session: Session, signal: AbortSignal): Promise<StoredSession>;
  /** From the cache. Undefined says nothing while `fresh` is false. */
  get(id: string): StoredSession | undefined;
  /**
   * From the cluster itself, past the cache; one request at a time for each id. Throws ServiceUnavailable when the
   * cluster does not answer, or when too many ask.
   */
  read(id: string, signal: AbortSignal): Promise<StoredSession | undefined>;
  /** Throws Conflict (StatusError) when it was changed since it was read, NotFound when it is gone. */
  replace(session: StoredSession, signal: AbortSignal): Promise<StoredSession>;
  /**
   * Ends a login; no error when it is gone already. With `exactly`, only that version of it: throws Conflict
   * (StatusError) when it was changed since.
   */
  delete(id: string, signal: AbortSignal, exactly?: ObjectVersion): Promise<void>;
  /** From the cache, in no order. */
  ofUser(user: string): readonly StoredSession[];
  /** False while the cache is not filled, or when it has not heard from the cluster for too long. */
  readonly fresh: boolean;
}

export interface ObjectVersion {
  readonly uid: string;
  readonly resourceVersion: string;
}
