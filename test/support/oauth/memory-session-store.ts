// Session stores that keep the sessions of several test replicas in memory.
import { newConflict, newNotFound, StatusError } from '../../../apis/meta/v1/errors.ts';
import { isUsedMark } from '../../../server/oauth/codes/authorization-code.ts';
import type { RandomBytes } from '../../../server/oauth/keys/key-ring.ts';
import {
  NO_CLIENT,
  type ObjectVersion,
  type Session,
  type SessionStore,
  type StoredSession,
} from '../../../server/oauth/sessions/session.ts';
import { newSessionID } from '../../../server/oauth/sessions/session-object.ts';

const TARGET = { group: 'iam.platform.io', resource: 'sessions' };

/** The objects that all replicas of a test share. */
export class MemorySessions {
  readonly objects = new Map<string, StoredSession>();
  #version = 0;

  /** All sessions, without the marks of used codes. */
  get all(): readonly StoredSession[] {
    return [...this.objects.values()].filter((session) => !isUsedMark(session));
  }

  /** The sessions that are no browser sessions. */
  get ofClients(): readonly StoredSession[] {
    return this.all.filter(({ clientID }) => clientID !== NO_CLIENT);
  }

  nextVersion(): string {
    return String(++this.#version);
  }
}

/** The store of one replica. Its cache is the shared state until `lag` is called. */
export class MemorySessionStore implements SessionStore {
  fresh = true;
  /** Number of reads that bypass the cache. */
  reads = 0;
  /** Called before each write; may throw, or wait. */
  beforeWrite: () => Promise<void> | void = () => undefined;
  /** Called after each write; its error replaces the response. */
  afterWrite: () => void = () => undefined;
  readonly #shared: MemorySessions;
  readonly #now: () => number;
  #lagging: ReadonlyMap<string, StoredSession> | undefined;

  constructor(shared: MemorySessions, now: () => number = Date.now) {
    this.#shared = shared;
    this.#now = now;
  }

  /** Freezes the cache at the current state. */
  lag(): void {
    this.#lagging = new Map(this.#shared.objects);
  }

  newID(random: RandomBytes): string {
    return newSessionID(random);
  }

  async create(session: Session): Promise<StoredSession> {
    await this.beforeWrite();
    const { objects } = this.#shared;
    if (objects.has(session.id)) throw new StatusError(409, 'AlreadyExists', 'already exists');
    return this.#put({ ...session, uid: `uid-${this.#shared.nextVersion()}` });
  }

  get(id: string): StoredSession | undefined {
    return this.#live((this.#lagging ?? this.#shared.objects).get(id));
  }

  has(id: string): boolean {
    return (this.#lagging ?? this.#shared.objects).has(id);
  }

  read(id: string): Promise<StoredSession | undefined> {
    this.reads++;
    return Promise.resolve(this.#live(this.#shared.objects.get(id)));
  }

  async replace(session: StoredSession): Promise<StoredSession> {
    await this.beforeWrite();
    this.#check(session.id, session);
    return this.#put(session);
  }

  async delete(id: string, _signal: AbortSignal, exactly?: ObjectVersion): Promise<void> {
    await this.beforeWrite();
    if (exactly && this.#shared.objects.has(id)) this.#check(id, exactly);
    this.#shared.objects.delete(id);
  }

  ofUser(user: string): readonly StoredSession[] {
    return [...(this.#lagging ?? this.#shared.objects).values()].filter(
      (session) => session.user === user && this.#live(session),
    );
  }

  async readOfUser(user: string): Promise<readonly StoredSession[]> {
    this.reads++;
    return [...this.#shared.objects.values()].filter(
      (session) => session.user === user && this.#live(session),
    );
  }

  #check(id: string, { uid, resourceVersion }: ObjectVersion): void {
    const found = this.#shared.objects.get(id);
    if (!found) throw newNotFound(TARGET, id);
    if (found.uid !== uid || found.resourceVersion !== resourceVersion) {
      throw newConflict(TARGET, id, 'the object has been modified');
    }
  }

  #put(session: Omit<StoredSession, 'resourceVersion'>): StoredSession {
    const stored = { ...session, resourceVersion: this.#shared.nextVersion() };
    this.#shared.objects.set(stored.id, stored);
    this.afterWrite();
    return stored;
  }

  #live(session: StoredSession | undefined): StoredSession | undefined {
    const now = this.#now();
    return session && now < session.notAfter && now < session.idleNotAfter ? session : undefined;
  }
}
