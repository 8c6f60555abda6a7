// Sessions as custom resources: every replica follows them, so what is written or deleted at one counts at all of them
// within the delay of a watch. session-end and session-reaper decide when a session ends, and who gets one is decided by
// the grants.
import type { Logger } from 'pino';
import { VERSION } from '../../../apis/iam/v1beta1/group-version.ts';
import { SESSION } from '../../../apis/iam/v1beta1/session.ts';
import {
  isAlreadyExists,
  isConflict,
  isNotFound,
  newServiceUnavailable,
  StatusError,
} from '../../../apis/meta/v1/errors.ts';
import { recordIn } from '../../../apis/reading/unknown-value.ts';
import type { ClusterClient } from '../../cluster/connection/client.ts';
import { Freshness, STALE_AFTER_MS } from '../../cluster/reflector/freshness.ts';
import { Reflector } from '../../cluster/reflector/reflector.ts';
import { SHORT_WATCHES } from '../../cluster/reflector/reflector-tuning.ts';
import type { KeyRing } from '../keys/key-ring.ts';
import type { RandomBytes } from '../keys/random-bytes.ts';
import type { ObjectVersion, Session, SessionStore, StoredSession } from './session.ts';
import { SessionCache } from './session-cache.ts';
import { isSessionID, SessionIDs } from './session-ids.ts';
import { type FoundSession, isGenuine, isSame, readSession, sessionObject } from './session-object.ts';
import { LOOKUPS, LOOKUPS_OF_STRANGERS, SessionReads } from './session-reads.ts';

/** Keys that change, where they can. */
export interface ChangingKeys extends KeyRing {
  /** Called after every change. Returns the function that ends it. */
  subscribe?(changed: () => void): () => void;
  /** Asks for keys that another replica may have heard of a moment earlier; bounded. */
  reread?(): Promise<void>;
}

export interface ClusterSessionStoreOptions {
  readonly client: ClusterClient;
  readonly keys: ChangingKeys;
  /** API group, for instance `iam.platform.io`. */
  readonly group: string;
  readonly log: Pick<Logger, 'debug' | 'info' | 'warn'>;
  /** Silence of the cluster, in ms, after which the cache says nothing any more. */
  readonly staleAfterMs?: number;
  /** Ms since the epoch. */
  readonly now?: () => number;
  /** Ms that never go back. */
  readonly monotonic?: () => number;
}

export class ClusterSessionStore implements SessionStore {
  readonly #options: ClusterSessionStoreOptions;
  readonly #now: () => number;
  readonly #monotonic: () => number;
  readonly #path: string;
  readonly #cache = new SessionCache();
  readonly #closed = new AbortController();
  readonly #ids: SessionIDs;
  readonly #reads: SessionReads;
  /** Of ids that anybody may have invented. */
  readonly #strangersReads: SessionReads;
  /** Objects whose MAC has been found good by the keys of now, so that it is computed once for each version. */
  #genuine = new WeakSet<FoundSession>();
  readonly #freshness: Freshness;

  constructor(options: ClusterSessionStoreOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.#monotonic = options.monotonic ?? (() => performance.now());
    this.#freshness = new Freshness(this.#monotonic);
    this.#path = `/apis/${options.group}/${VERSION}/${SESSION.plural}`;
    this.#ids = new SessionIDs(options.keys);
    const reads = {
      client: options.client,
      path: this.#path,
      signal: this.#closed.signal,
      monotonic: this.#monotonic,
    };
    this.#reads = new SessionReads({ ...reads, bounds: LOOKUPS });
    this.#strangersReads = new SessionReads({ ...reads, bounds: LOOKUPS_OF_STRANGERS });
  }

  /** Follows the Session objects until `signal` is aborted; never throws. */
  async run(signal: AbortSignal): Promise<void> {
    const { client, keys, log } = this.#options;
    // Keys that were taken away take the sessions with them.
    const unsubscribe = keys.subscribe?.(() => {
      this.#genuine = new WeakSet();
    });
    await new Reflector({
      client,
      path: this.#path,
      sink: this.#cache,
      log,
      observer: this.#freshness,
      tuning: SHORT_WATCHES,
    }).run(signal);
    unsubscribe?.();
    this.#closed.abort(signal.reason);
  }

  get fresh(): boolean {
    const staleAfterMs = this.#options.staleAfterMs ?? STALE_AFTER_MS;
    return this.#cache.synced && this.#options.keys.ready && this.#freshness.within(staleAfterMs);
  }

  /** How many Session objects there are, whatever they are worth. */
  get size(): number {
    return this.#cache.size;
  }

  get(id: string): StoredSession | undefined {
    return this.#usable(this.#cache.get(id));
  }

  ofUser(user: string): readonly StoredSession[] {
    return this.#cache
      .ofUser(user)
      .map((found) => this.#usable(found))
      .filter((session) => session !== undefined);
  }

  /** Every object, also those that count for nothing. */
  all(): Iterable<FoundSession> {
    return this.#cache.all();
  }

  isGenuine(found: FoundSession): boolean {
    if (this.#genuine.has(found)) return true;
    const { session, mac } = found;
    if (!session || !isGenuine(session, mac, this.#options.keys)) return false;
    this.#genuine.add(found);
    return true;
  }

  async read(id: string, signal: AbortSignal): Promise<StoredSession | undefined> {
    if (!isSessionID(id)) return undefined;
    // When many sign out at a time, the cluster need not be asked about each.
    if (this.#cache.wasDeleted(id)) return undefined;
    const { keys } = this.#options;
    if (!keys.ready) throw newServiceUnavailable('the keys of sessions are not known yet', 1);
    const reads = this.#ids.isOurs(id) ? this.#reads : this.#strangersReads;
    const object = await reads.get(id, signal);
    if (object === undefined) return undefined;
    const found = readSession(object);
    if (found.session && !this.isGenuine(found)) await keys.reread?.();
    return this.#usable(found);
  }

  newID(random: RandomBytes): string {
    return this.#ids.next(random);
  }

  create(session: Session, signal: AbortSignal): Promise<StoredSession> {
    return this.#write('POST', this.#path, session, undefined, signal);
  }

  replace(session: StoredSession, signal: AbortSignal): Promise<StoredSession> {
    return this.#write('PUT', `${this.#path}/${session.id}`, session, session, signal);
  }

  async delete(id: string, signal: AbortSignal, exactly?: ObjectVersion): Promise<void> {
    if (!isSessionID(id)) return;
    await this.remove(id, signal, exactly).catch((error: unknown) => {
      throw isConflict(error) ? error : notKept(error);
    });
  }

  /** As `delete`, of an object of any name. Throws what kube-apiserver says. */
  async remove(name: string, signal: AbortSignal, exactly?: ObjectVersion): Promise<void> {
    const preconditions = exactly && { uid: exactly.uid, resourceVersion: exactly.resourceVersion };
    let uid = exactly?.uid ?? this.#cache.get(name)?.uid ?? '';
    try {
      const answer = await this.#options.client.json({
        method: 'DELETE',
        path: `${this.#path}/${name}`,
        ...(preconditions ? { json: { apiVersion: 'v1', kind: 'DeleteOptions', preconditions } } : {}),
        signal,
      });
      const deleted = recordIn(answer, 'details')['uid'];
      if (typeof deleted === 'string') uid = deleted;
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
    this.#cache.forget(name, uid);
  }

  async #write(
    method: 'POST' | 'PUT',
    path: string,
    session: Session,
    version: ObjectVersion | undefined,
    signal: AbortSignal,
  ): Promise<StoredSession> {
    const { client, group, keys } = this.#options;
    const { generation } = this.#cache;
    // The set of the keys of now: when they change meanwhile it is no longer looked at.
    const genuine = this.#genuine;
    const object = sessionObject(group, session, keys, version);
    const answer = await client.json({ method, path, json: object, signal }).catch((error: unknown) => {
      const isTold = method === 'POST' ? isAlreadyExists(error) : isConflict(error) || isNotFound(error);
      throw isTold ? error : notKept(error);
    });
    const found = readSession(answer);
    // Word for word what was sent: its MAC need not be computed again.
    if (found.session && found.mac === object.spec.mac && isSame(found.session, session)) {
      genuine.add(found);
    }
    const stored = this.#usable(found);
    // Not what was written: fields that the cluster does not know, or clocks that are far apart.
    if (!stored) {
      this.#options.log.warn(
        { session: session.id, creationTime: found.creationTime, now: this.#now() },
        'a session that was written cannot be used: compare the clocks, and the CustomResourceDefinition',
      );
      throw newServiceUnavailable('sessions cannot be kept now', 5);
    }
    this.#cache.keep(found, generation);
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
 * What kube-apiserver has against us (a right that is missing, an etcd without a leader) says nothing about who signs in:
 * passed on as it is, a client would take it for its own fault.
 */
function notKept(error: unknown): unknown {
  if (!(error instanceof StatusError) || error.reason === 'ServiceUnavailable') return error;
  const seconds = error.details?.retryAfterSeconds ?? 1;
  return newServiceUnavailable('sessions cannot be kept now', seconds, { cause: error });
}
