// Browser sessions: the users who are signed in to the pages of this server in one browser. A cookie identifies them, and
// only these pages read it: it authenticates no request to an API, and the gateway forwards no cookies.
import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isConflict, isNotFound } from '../../../../apis/meta/v1/errors.ts';
import { OAuthError, temporarilyUnavailable } from '../../../../apis/oauth/oauth-error.ts';
import type { RequestContext } from '../../../request/request-context.ts';
import type { ClientOrigin } from '../../../request/source-address.ts';
import type { ClientRegistry } from '../../clients/oauth-client.ts';
import { isUsedMark } from '../../codes/authorization-code.ts';
import type { RandomBytes } from '../../keys/key-ring.ts';
import { HostCookie } from '../../page/page.ts';
import type { SessionFreshness } from '../../providers/session-freshness.ts';
import type { Authentication } from '../../sessions/proof.ts';
import { NO_CLIENT, type SessionStore, type StoredSession, sameHash } from '../../sessions/session.ts';
import { type SessionCreator, sessionOrigin } from '../../sessions/session-creator.ts';
import type { SessionValidity } from '../../sessions/session-validity.ts';
import type { Account, UserID } from '../../users/account.ts';

/** In ms. */
interface BrowserSessionLifetimes {
  readonly idleLifetime: number;
  readonly lifetime: number;
}

export interface BrowserSessionsOptions {
  readonly sessions: Pick<SessionStore, 'fresh' | 'newID' | 'get' | 'read' | 'replace' | 'delete' | 'ofUser'>;
  readonly clients: Pick<ClientRegistry, 'get'>;
  readonly creator: Pick<SessionCreator, 'store'>;
  readonly validity: Pick<SessionValidity, 'synced' | 'accountOf' | 'confirmedEnd'>;
  /** Asks the identity provider of the session, if it has one. */
  readonly freshness: Pick<SessionFreshness, 'renewed'>;
  readonly browserSession: BrowserSessionLifetimes;
  readonly random: RandomBytes;
  /** Ms since the epoch. */
  readonly now: () => number;
}

/** A user who is signed in. */
export interface BrowserSession {
  readonly session: StoredSession;
  readonly account: Account;
  readonly authentication: Authentication;
}

/** A sign-in on a page. */
export interface SignedInOnPage extends ClientOrigin {
  readonly account: UserID;
  readonly authentication: Authentication;
}

/** A part of the cookie. The id is public, so a secret proves that the browser has signed in. */
interface CookieEntry {
  readonly id: string;
  readonly secret: string;
}

/** Ends with the browser. */
const COOKIE = new HostCookie('session', '[\\w.~-]{1,1024}');
const ENTRY = /^(s-[a-z2-7]{20})\.([\w-]{43})$/;
const MAX_ACCOUNTS = 5;
/** Minimum interval between writes of `lastUsedAt`; a shorter idle lifetime shortens it. */
const RECORD_INTERVAL_MS = 5 * 60_000;
const RECORD_TIMEOUT_MS = 3_000;
/** Maximum number of writes of a session that others change at the same time. */
const ATTEMPTS = 5;

export class BrowserSessions {
  readonly #options: BrowserSessionsOptions;
  /** Ids of sessions whose last use is being written. */
  readonly #recording = new Set<string>();

  constructor(options: BrowserSessionsOptions) {
    this.#options = options;
  }

  /**
   * The users who are signed in, the latest sign-in first. `use` must confirm the one for whom anything is done. Throws OAuthError 503
   * when the cookie cannot be checked.
   */
  async of(context: RequestContext): Promise<readonly BrowserSession[]> {
    const entries = entriesIn(context.request);
    const found = await Promise.all(entries.map((entry) => this.#find(entry, context)));
    return found.filter((each) => each !== undefined);
  }

  /**
   * Signs the user in, and sets the cookie. The secret is new, also for a user who was signed in, so that no cookie from
   * before the sign-in is valid after it; codes of before are invalid, too.
   */
  async begin(context: RequestContext, by: SignedInOnPage): Promise<StoredSession> {
    const { random, sessions, creator, now } = this.#options;
    const { account, authentication, source, userAgent } = by;
    const { request, signal } = context;
    const secret = random(32).toString('base64url');
    const signedIn = await this.of(context);
    const earlier = signedIn.find(({ session }) => session.userUID === account.uid)?.session;
    const time = now();
    const renewed = { authentication, ...this.#expiry(time), refreshHash: hashOf(secret) };
    const renew = (latest: StoredSession): StoredSession => ({ ...nextGeneration(latest), ...renewed });
    const session =
      (earlier && (await this.#update(earlier, renew, context))) ??
      (await creator.store(
        {
          ...renewed,
          id: sessions.newID(random),
          user: account.name,
          userUID: account.uid,
          clientID: NO_CLIENT,
          scopes: [],
          ...sessionOrigin(source, userAgent),
          createdAt: time,
          generation: 0,
          familyHash: '',
        },
        signal,
      ));
    const others = entriesIn(request).filter(({ id }) =>
      signedIn.some((each) => each.session.id === id && id !== earlier?.id),
    );
    this.#setCookie(context, [{ id: session.id, secret }, ...others]);
    return session;
  }

  /**
   * Asks the identity provider of the session, if it has one, and extends the idle expiry. Undefined unless the provider confirms the
   * person: the user has to sign in again, also during an outage that is longer than tolerated.
   */
  async use(by: BrowserSession, context: RequestContext): Promise<BrowserSession | undefined> {
    const { validity } = this.#options;
    const renewed = (await this.#confirmed(by.session, context))?.authentication;
    if (!renewed) return undefined;
    const session = await this.#update(by.session, (latest) => withFacts(latest, renewed), context);
    // A group that the provider has just granted may require a second factor.
    if (session && (await validity.confirmedEnd(session, context)) !== undefined) return undefined;
    const account = session && validity.accountOf(session);
    if (!session?.authentication || !account) return undefined;
    this.#record({ ...session, authentication: renewed }, context);
    return { session, account, authentication: session.authentication };
  }

  /** Extends the idle expiry, without waiting for the write. A failure shortens only the session. */
  #record(session: StoredSession, { log }: RequestContext): void {
    const { now, browserSession } = this.#options;
    const { id } = session;
    const interval = Math.min(RECORD_INTERVAL_MS, browserSession.idleLifetime / 4);
    if (now() < session.lastUsedAt + interval || this.#recording.has(id)) return;
    const { lastUsedAt, idleNotAfter } = this.#expiry(now());
    const expiry = { lastUsedAt, idleNotAfter: Math.min(idleNotAfter, session.notAfter) };
    this.#recording.add(id);
    void this.#replace({ ...session, ...expiry }, AbortSignal.timeout(RECORD_TIMEOUT_MS))
      .catch((err: unknown) => log.warn({ err, browser: id }, 'cannot extend a browser session'))
      .finally(() => this.#recording.delete(id));
  }

  /**
   * Replaces the secret, so that only this browser has the session, also after its cookie was copied. Codes that are not exchanged yet
   * become invalid.
   */
  async renew({ session }: BrowserSession, context: RequestContext): Promise<void> {
    const secret = this.#options.random(32).toString('base64url');
    const refreshHash = hashOf(secret);
    const renewed = (latest: StoredSession) => ({ ...nextGeneration(latest), refreshHash });
    // Otherwise another request has done it, or has ended the session.
    if (!(await this.#update(session, renewed, context))) return;
    const entries = entriesIn(context.request);
    const kept = entries.map((entry) => (entry.id === session.id ? { ...entry, secret } : entry));
    this.#setCookie(context, kept);
  }

  /**
   * Signs users out: ends browser sessions of this or another browser, and thereby the sessions of clients that began with them. Those
   * that the cache has are deleted at once. Throws ServiceUnavailable when a browser session is not ended.
   */
  async end(context: RequestContext, ended: readonly Pick<StoredSession, 'id' | 'user'>[]): Promise<void> {
    const { sessions } = this.#options;
    const { signal, request, log } = context;
    for (const { id, user } of ended) {
      await sessions.delete(id, signal);
      const began = sessions.ofUser(user).filter((session) => session.browser === id && this.#ends(session));
      // They are invalid without the browser session, and the session reaper deletes the remaining ones.
      await Promise.allSettled(began.map((session) => sessions.delete(session.id, signal)));
      log.info({ user, browser: id, sessions: began.length }, 'signed out');
    }
    const entries = entriesIn(request);
    const kept = entries.filter((entry) => ended.every(({ id }) => id !== entry.id));
    // A form of another site has no cookies (SameSite), so its response must not remove those of the browser.
    if (kept.length < entries.length) this.#setCookie(context, kept);
  }

  #ends(session: StoredSession): boolean {
    return !isUsedMark(session) && !this.#options.clients.get(session.clientID)?.keepAfterSignOut;
  }

  #expiry(time: number): Pick<StoredSession, 'lastUsedAt' | 'notAfter' | 'idleNotAfter'> {
    const { idleLifetime, lifetime } = this.#options.browserSession;
    return {
      lastUsedAt: time,
      notAfter: time + lifetime,
      idleNotAfter: time + Math.min(idleLifetime, lifetime),
    };
  }

  /**
   * Changes the latest version of a session. Undefined when it has ended, or the user has signed in again. Throws OAuthError 503 when
   * others change it again and again.
   */
  async #update(
    session: StoredSession,
    change: (latest: StoredSession) => StoredSession,
    context: RequestContext,
  ): Promise<StoredSession | undefined> {
    let latest: StoredSession | undefined = session;
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      if (latest?.refreshHash !== session.refreshHash) return undefined;
      const changed = change(latest);
      const replaced = changed === latest ? latest : await this.#replace(changed, context.signal);
      if (replaced) return replaced;
      latest = await this.#options.sessions.read(session.id, context);
    }
    throw temporarilyUnavailable('the session is being modified, try again', 1);
  }

  /** Undefined when another request has changed or ended the session. */
  async #replace(session: StoredSession, signal: AbortSignal): Promise<StoredSession | undefined> {
    try {
      return await this.#options.sessions.replace(session, signal);
    } catch (error) {
      if (isConflict(error) || isNotFound(error)) return undefined;
      throw error;
    }
  }

  async #find({ id, secret }: CookieEntry, context: RequestContext): Promise<BrowserSession | undefined> {
    const { sessions, validity } = this.#options;
    if (!sessions.fresh || !validity.synced) throw temporarilyUnavailable('the session cache is stale', 1);
    const proves = (found: StoredSession | undefined): boolean =>
      found?.clientID === NO_CLIENT && sameHash(found.refreshHash, hashOf(secret));
    let session = sessions.get(id);
    // The cache may lag behind a sign-in at another replica.
    if (!proves(session) && (!session || session.clientID === NO_CLIENT)) {
      session = await sessions.read(id, context);
    }
    if (!session || !proves(session)) return undefined;
    if ((await validity.confirmedEnd(session, context)) !== undefined) return undefined;
    const { authentication } = session;
    const account = validity.accountOf(session);
    return authentication && account ? { session, account, authentication } : undefined;
  }

  async #confirmed(session: StoredSession, context: RequestContext): Promise<StoredSession | undefined> {
    try {
      const renewed = await this.#options.freshness.renewed(session, context);
      return typeof renewed === 'string' ? undefined : renewed;
    } catch (error) {
      if (error instanceof OAuthError) return undefined;
      throw error;
    }
  }

  #setCookie({ response }: RequestContext, entries: readonly CookieEntry[]): void {
    const value = entries
      .slice(0, MAX_ACCOUNTS)
      .map(({ id, secret }) => `${id}.${secret}`)
      .join('~');
    response.appendHeader('Set-Cookie', COOKIE.header(value));
  }
}

function entriesIn(request: IncomingMessage): readonly CookieEntry[] {
  const parts = COOKIE.read(request)?.split('~') ?? [];
  return parts.slice(0, MAX_ACCOUNTS).flatMap((part) => {
    const [, id, secret] = ENTRY.exec(part) ?? [];
    return id !== undefined && secret !== undefined ? [{ id, secret }] : [];
  });
}

/** Codes belong to a generation. */
function nextGeneration(session: StoredSession): StoredSession {
  return { ...session, generation: session.generation + 1 };
}

/** The session with changed facts of the identity provider, which the sessions of clients have from their browser session. */
function withFacts(session: StoredSession, authentication: Authentication): StoredSession {
  const facts = ({ proof }: Authentication): string => JSON.stringify({ ...proof, checkedAt: 0 });
  const isSame = session.authentication && facts(session.authentication) === facts(authentication);
  // Another replica may exchange the code, and its cache may lag.
  return isSame ? session : nextGeneration({ ...session, authentication });
}

function hashOf(secret: string): string {
  return hash('sha256', `browser session ${secret}`);
}
