// Session store that keeps sessions as custom resources, cached in every replica. session-validity.ts decides whether
// a session is valid.
import { SESSION } from '../../../apis/iam/v1beta1/session-resource.ts';
import {
  isAlreadyExists,
  isConflict,
  isNotFound,
  newServiceUnavailable,
  StatusError,
} from '../../../apis/meta/v1/errors.ts';
import { array, record, recordIn } from '../../../apis/reading/unknown-value.ts';
import type { CallContext } from '../../cluster/call-context.ts';
import { LookupCache } from '../../memory/lookup-cache.ts';
import type { KeyRing, RandomBytes } from '../keys/key-ring.ts';
import { ObjectStore, type ObjectStoreOptions } from '../users/object-store.ts';
import type { ObjectVersion, Session, SessionStore, StoredSession } from './session.ts';
import {
  type FoundSession,
  isGenuine,
  isSame,
  isSessionID,
  readSession,
  SessionIDs,
  sessionObject,
} from './session-object.ts';
import { SessionsByUser } from './sessions-by-user.ts';

/** A key ring with rotation. */
interface RotatingKeys extends KeyRing {
  /** Calls `changed` after every change. Returns the unsubscribe function. */
  subscribe?(changed: () => void): () => void;
  /** Re-reads keys that the watch may not have delivered yet; rate-limited. */
  reread?(): Promise<void>;
}

/**
 * TTL of a NotFound result. No client has a random id before its session is written, so the session does not appear later.
 */
const ABSENT_TTL_MS = 10_000;
const MAX_ABSENT = 1_000;

interface ClusterSessionStoreOptions extends ObjectStoreOptions {
  readonly keys: RotatingKeys;
  /** Ms since the epoch. */
  readonly now?: () => number;
}

export class ClusterSessionStore extends ObjectStore<FoundSession> implements SessionStore {
  readonly #keys: RotatingKeys;
  readonly #now: () => number;
  readonly #byUser: SessionsByUser;
  readonly #closed = new AbortController();
  readonly #ids: SessionIDs;
  /** Reads of single objects; empty for one that does not exist. */
  readonly #lookups: LookupCache<{ readonly object?: object }>;
  /** Objects with a valid MAC under the current keys: the MAC is checked once per version. */
  #genuine = new WeakSet<FoundSession>();

  constructor(options: ClusterSessionStoreOptions) {
    const byUser = new SessionsByUser();
    super(SESSION, readSession, options, (before, after) => byUser.changed(before, after));
    const { keys, now = Date.now, monotonic = () => performance.now() } = options;
    this.#keys = keys;
    this.#now = now;
    this.#byUser = byUser;
    this.#ids = new SessionIDs(keys);
    this.#lookups = new LookupCache({
      size: MAX_ABSENT,
      ttlMs: ({ object }) => (object ? 0 : ABSENT_TTL_MS),
      seats: options.lookups,
      signal: this.#closed.signal,
      monotonic,
    });
  }

  /** Follows the Session objects until `signal` is aborted; never throws. */
  override async run(signal: AbortSignal): Promise<void> {
    // Removing a key invalidates the MACs made with it.
    const unsubscribe = this.#keys.subscribe?.(() => {
      this.#genuine = new WeakSet();
    });
    await super.run(signal);
    unsubscribe?.();
    this.#closed.abort(signal.reason);
  }

  get fresh(): boolean {
    return this.synced && this.#keys.ready;
  }

  /** Calls `ended` with each genuine session that was deleted, by any replica or client. Returns the unsubscribe function. */
  onEnd(ended: (session: StoredSession) => void): () => void {
    return this.#byUser.onEnd((found) => {
      if (found.session && this.isGenuine(found)) ended(found.session);
    });
  }

  get(id: string): StoredSession | undefined {
    return this.#usable(this.index.get(id));
  }

  has(id: string): boolean {
    const found = this.index.get(id);
    return found?.session !== undefined && this.isGenuine(found);
  }

  ofUser(user: string): readonly StoredSession[] {
    return this.#byUser
      .of(user)
      .map((found) => this.#usable(found))
      .filter((session) => session !== undefined);
  }

  async readOfUser(user: string, signal: AbortSignal): Promise<readonly StoredSession[]> {
    const path = `${this.path}?fieldSelector=${encodeURIComponent(`spec.user=${user}`)}`;
    const list = await this.options.client.json({ path, signal }).catch((error: unknown) => {
      throw unavailable(error, 'cannot list the sessions');
    });
    return array(record(list)['items'])
      .map((object) => this.#usable(readSession(object)))
      .filter((session) => session !== undefined);
  }

  /** Every Session object, invalid ones included. */
  all(): Iterable<FoundSession> {
    return this.index.values();
  }

  isGenuine(found: FoundSession): boolean {
    if (this.#genuine.has(found)) return true;
    const { session, mac } = found;
    if (!session || !isGenuine(session, mac, this.#keys)) return false;
    this.#genuine.add(found);
    return true;
  }

  async read(id: string, call: CallContext): Promise<StoredSession | undefined> {
    if (!isSessionID(id)) return undefined;
    // After the deletion of many sessions, their tokens must not each cause a lookup.
    if (this.#byUser.hasEnded(id) && !this.index.get(id)) return undefined;
    const keys = this.#keys;
    if (!keys.ready) throw newServiceUnavailable('the signing keys are not loaded yet', 1);
    if (!this.#ids.isGenuine(id)) {
      // Another replica may have used a key that the watch has not delivered yet.
      await keys.reread?.();
      if (!this.#ids.isGenuine(id)) return undefined;
    }
    const { object } = await this.#lookUp(id, call);
    if (!object) return undefined;
    const found = readSession(object);
    if (found.session && !this.isGenuine(found)) await keys.reread?.();
    return this.#usable(found);
  }

  async #lookUp(id: string, call: CallContext): Promise<{ readonly object?: object }> {
    const load = async (signal: AbortSignal): Promise<{ readonly object?: object }> => {
      try {
        return { object: record(await this.options.client.json({ path: `${this.path}/${id}`, signal })) };
      } catch (error) {
        if (isNotFound(error)) return {};
        throw error;
      }
    };
    try {
      return await this.#lookups.get(id, load, call);
    } catch (error) {
      throw unavailable(error, 'cannot look up the session');
    }
  }

  newID(random: RandomBytes): string {
    return this.#ids.next(random);
  }

  create(session: Session, signal: AbortSignal): Promise<StoredSession> {
    return this.#write('POST', this.path, session, undefined, signal);
  }

  replace(session: StoredSession, signal: AbortSignal): Promise<StoredSession> {
    return this.#write('PUT', `${this.path}/${session.id}`, session, session, signal);
  }

  async delete(id: string, signal: AbortSignal, exactly?: ObjectVersion): Promise<void> {
    if (!isSessionID(id)) return;
    await this.remove(id, signal, exactly).catch((error: unknown) => {
      throw isConflict(error) ? error : unavailable(error);
    });
  }

  /** As `delete`, for an object of any name and with kube-apiserver's own errors. */
  async remove(name: string, signal: AbortSignal, exactly?: ObjectVersion): Promise<void> {
    const preconditions = exactly && { uid: exactly.uid, resourceVersion: exactly.resourceVersion };
    let uid = exactly?.uid ?? this.index.get(name)?.uid ?? '';
    try {
      const response = await this.options.client.json({
        method: 'DELETE',
        path: `${this.path}/${name}`,
        ...(preconditions ? { json: { apiVersion: 'v1', kind: 'DeleteOptions', preconditions } } : {}),
        signal,
      });
      const deleted = recordIn(response, 'details')['uid'];
      if (typeof deleted === 'string') uid = deleted;
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
    this.index.remove(name, uid);
    if (uid !== '') this.#byUser.ended(name);
  }

  async #write(
    method: 'POST' | 'PUT',
    path: string,
    session: Session,
    version: ObjectVersion | undefined,
    signal: AbortSignal,
  ): Promise<StoredSession> {
    const { client, group } = this.options;
    // The set for the current keys: a key change during the write replaces `this.#genuine`.
    const genuine = this.#genuine;
    const object = sessionObject(group, session, this.#keys, version);
    const response = await client.json({ method, path, json: object, signal }).catch((error: unknown) => {
      const isExpected = method === 'POST' ? isAlreadyExists(error) : isConflict(error) || isNotFound(error);
      throw isExpected ? error : unavailable(error);
    });
    const found = readSession(response);
    // Identical to what was sent, so the MAC is valid.
    if (found.session && found.mac === object.spec.mac && isSame(found.session, session)) {
      genuine.add(found);
    }
    const stored = this.#usable(found);
    // The stored object differs: the CustomResourceDefinition lacks fields, or the clocks differ too much.
    if (!stored) {
      this.options.log.warn(
        { session: session.id, creationTime: found.creationTime, now: this.#now() },
        'the stored session is invalid: check the clocks and the CustomResourceDefinition of sessions',
      );
      throw newServiceUnavailable('cannot store the session', 5);
    }
    this.index.put(response, found);
    return stored;
  }

  #usable(found: FoundSession | undefined): StoredSession | undefined {
    const session = found?.session;
    if (!found || !session) return undefined;
    const now = this.#now();
    return now < session.notAfter && now < session.idleNotAfter && this.isGenuine(found)
      ? session
      : undefined;
  }
}

/**
 * Converts an error that kube-apiserver returns for this server's own request (a missing permission, etcd without leader)
 * into ServiceUnavailable. Otherwise the caller would attribute it to its own request.
 */
function unavailable(error: unknown, message = 'cannot store the session'): unknown {
  if (!(error instanceof StatusError) || error.reason === 'ServiceUnavailable') return error;
  const seconds = error.details?.retryAfterSeconds ?? 1;
  return newServiceUnavailable(message, seconds, { cause: error });
}
