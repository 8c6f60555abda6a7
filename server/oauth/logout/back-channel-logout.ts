// Back-channel logout (OpenID Connect Back-Channel Logout 1.0): tells clients that a session has ended. Only the leader
// sends; a notification is lost when no replica leads, so clients must also expect refused refreshes.
import type { Logger } from 'pino';
import { Wakeup } from '../../concurrency/wakeup.ts';
import { ConnectionPool } from '../../upstream/connection-pool.ts';
import { abortableBy, send } from '../../upstream/send.ts';
import type { ConfiguredClient } from '../clients/oauth-client.ts';
import { isPending, type Session } from '../sessions/session.ts';
import type { TokenIssuer } from '../tokens/token-issuer.ts';

interface BackChannelLogoutOptions {
  readonly clients: readonly ConfiguredClient[];
  readonly tokens: Pick<TokenIssuer, 'logoutToken'>;
  readonly sessions: {
    /** Calls `ended` with each session that was deleted. Returns the unsubscribe function. */
    onEnd(ended: (session: Session) => void): () => void;
  };
  readonly log: Pick<Logger, 'info' | 'warn'>;
}

/** Maximum number of waiting notifications of one client; the oldest are dropped. */
const MAX_WAITING = 1000;
const TIMEOUT_MS = 5_000;
/** Of a proxy that limits requests, for instance when all sessions of a user end. */
const TRANSIENT: ReadonlySet<number> = new Set([408, 429]);
/** Times before the further attempts, so that a client can restart. */
const RETRY_MS: readonly number[] = [1_000, 10_000, 60_000, 300_000];

interface Waiting {
  readonly session: Session;
  /** Number of failed attempts. */
  readonly failed: number;
  /** Time of the next attempt, in monotonic ms. */
  readonly dueAt: number;
}

export class BackChannelLogout {
  readonly #options: BackChannelLogoutOptions;

  constructor(options: BackChannelLogoutOptions) {
    this.#options = options;
  }

  /** Sends until `signal` is aborted; never throws. */
  async run(signal: AbortSignal): Promise<void> {
    const { clients, sessions } = this.#options;
    const receivers = clients
      .filter(({ backchannelLogoutURI }) => backchannelLogoutURI !== '')
      .map((client) => new Receiver(client, this.#options));
    const byID = new Map(receivers.map((receiver) => [receiver.id, receiver]));
    const unsubscribe = sessions.onEnd((session) => {
      // The client of a code that was never exchanged does not know the session.
      if (!isPending(session)) byID.get(session.clientID)?.enqueue(session);
    });
    await Promise.all(receivers.map((receiver) => receiver.run(signal)));
    unsubscribe();
  }
}

/** One client. It receives one notification at a time, so a slow client delays only its own; one that failed does not delay the next. */
class Receiver {
  readonly id: string;
  readonly #client: ConfiguredClient;
  readonly #options: BackChannelLogoutOptions;
  readonly #url: URL;
  readonly #waiting: Waiting[] = [];
  readonly #wakeup = new Wakeup();

  constructor(client: ConfiguredClient, options: BackChannelLogoutOptions) {
    this.id = client.id;
    this.#client = client;
    this.#options = options;
    this.#url = new URL(client.backchannelLogoutURI);
  }

  enqueue(session: Session): void {
    this.#add({ session, failed: 0, dueAt: performance.now() });
  }

  #add(waiting: Waiting): void {
    if (this.#waiting.length >= MAX_WAITING) {
      this.#waiting.shift();
      this.#options.log.warn({ client: this.id, limit: MAX_WAITING }, 'notification of a logout dropped');
    }
    this.#waiting.push(waiting);
    this.#wakeup.wake();
  }

  async run(signal: AbortSignal): Promise<void> {
    // Trusts the CAs that Node trusts.
    const pool = new ConnectionPool({ url: this.#url });
    while (!signal.aborted) {
      const due = this.#takeDue();
      if (due) await this.#notify(due, pool, signal);
      else await this.#wakeup.next(signal, this.#waitMs());
    }
    pool.retire();
  }

  #takeDue(): Waiting | undefined {
    const now = performance.now();
    const index = this.#waiting.findIndex(({ dueAt }) => dueAt <= now);
    return index === -1 ? undefined : this.#waiting.splice(index, 1)[0];
  }

  /** Time until the next attempt, in ms; undefined if nothing waits. */
  #waitMs(): number | undefined {
    if (this.#waiting.length === 0) return undefined;
    return Math.min(...this.#waiting.map(({ dueAt }) => dueAt)) - performance.now();
  }

  async #notify({ session, failed }: Waiting, pool: ConnectionPool, signal: AbortSignal): Promise<void> {
    const { log } = this.#options;
    const about = { client: this.id, session: session.id, user: session.user };
    try {
      const status = await this.#post(session, pool, signal);
      if (status < 300) return log.info(about, 'client notified of a logout');
      // A redirect is not followed, and the client does not accept a token that it has rejected.
      if (status < 500 && !TRANSIENT.has(status))
        return log.warn({ ...about, status }, 'the client rejects the notification of a logout');
      log.warn({ ...about, status }, 'cannot notify a client of a logout');
    } catch (err) {
      if (signal.aborted) return;
      log.warn({ ...about, err }, 'cannot notify a client of a logout');
    }
    const wait = RETRY_MS[failed];
    if (wait !== undefined) this.#add({ session, failed: failed + 1, dueAt: performance.now() + wait });
  }

  /** The status of the response, whose body is ignored. The token is new for each attempt, because it is valid for two minutes. */
  async #post(session: Session, pool: ConnectionPool, signal: AbortSignal): Promise<number> {
    const body = `logout_token=${this.#options.tokens.logoutToken(this.#client, session)}`;
    const { host, pathname, search } = this.#url;
    const response = await send(pool, {
      method: 'POST',
      path: `${pathname}${search}`,
      headers: [
        ...['host', host, 'content-type', 'application/x-www-form-urlencoded'],
        ...['content-length', String(Buffer.byteLength(body)), 'cache-control', 'no-store'],
      ],
      body,
      isRead: false,
      crowd: 'back-channel logout',
      work: abortableBy(signal),
      responseMs: TIMEOUT_MS,
    });
    response.destroy();
    return response.statusCode;
  }
}
