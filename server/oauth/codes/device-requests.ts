// Requests of devices that wait for a person (RFC 8628). An open one is kept as a Session of nobody, so that every
// replica sees it, within the watch delay; whoever approves it makes the session that the device then begins with its
// code (session-code.ts), under the id that the device was told, so it can be approved once.
import { isAlreadyExists } from '../../../apis/meta/v1/errors.ts';
import { temporarilyUnavailable } from '../../../apis/oauth/errors.ts';
import type { OAuthClient } from '../clients/oauth-client.ts';
import type { RandomBytes } from '../keys/random-bytes.ts';
import { shownSource, shownUserAgent } from '../sessions/client-description.ts';
import { NOBODY, type SessionStore, type StoredSession } from '../sessions/session.ts';
import { beginningWith } from '../sessions/session-opening.ts';
import { networkOf } from '../throttle/network.ts';
import { TokenBucket } from '../throttle/token-bucket.ts';
import type { PasswordID, UserID } from '../users/account.ts';
import { type DeviceCode, newDeviceCode } from './device-code.ts';
import { codeHash, waitingSession } from './session-code.ts';
import { newUserCode, requestID } from './user-code.ts';

export const DEVICE_LIFETIME_MS = 600_000;
/** How long a device has to fetch what was approved. */
export const APPROVED_LIFETIME_MS = 120_000;

export interface DeviceRequestsOptions {
  readonly sessions: Pick<SessionStore, 'fresh' | 'get' | 'read' | 'newID' | 'create' | 'delete' | 'ofUser'>;
  readonly random: RandomBytes;
  /** Ms since the epoch. */
  readonly now: () => number;
  /** Ms that never go back. */
  readonly monotonic: () => number;
}

export interface DeviceOrigin {
  readonly source: string;
  readonly userAgent: string;
}

/** A request as it waited for a person. */
export interface DeviceRequest extends DeviceOrigin {
  readonly id: string;
  /** Id of the session that an approval makes. */
  readonly session: string;
  readonly clientID: string;
  readonly scopes: readonly string[];
}

export type Approval = 'approved' | 'decided already' | 'gone';

// Anybody may ask for a code, so what is open is bounded: for all, for one address (of IPv6: one network, since one
// subscriber has as many addresses as he likes), and in the rate of writes.
const MAX_OPEN = 200;
const MAX_OPEN_OF_SOURCE = 20;
const WRITES_PER_SECOND = 5;
const ATTEMPTS = 5;

export class DeviceRequests {
  readonly #options: DeviceRequestsOptions;
  readonly #writes: TokenBucket;

  constructor(options: DeviceRequestsOptions) {
    const { monotonic } = options;
    this.#options = options;
    this.#writes = new TokenBucket({ burst: 4 * WRITES_PER_SECOND, perSecond: WRITES_PER_SECOND, monotonic });
  }

  /** Throws OAuthError 503 when there are too many. */
  async open(
    client: OAuthClient,
    scopes: readonly string[],
    origin: DeviceOrigin,
    signal: AbortSignal,
  ): Promise<{ readonly deviceCode: string; readonly userCode: string }> {
    const { sessions, random, now } = this.#options;
    const source = shownSource(origin.source);
    this.#checkRoom(source);
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const userCode = newUserCode(random);
      const createdAt = now();
      const id = requestID(userCode);
      const code = newDeviceCode({ sessionID: sessions.newID(random), requestID: id }, createdAt, random);
      const session = waitingSession(
        {
          id,
          user: NOBODY,
          // What is going to be approved, until then of nobody.
          userUID: code.sessionID,
          clientID: client.id,
          scopes,
          source,
          userAgent: shownUserAgent(origin.userAgent),
          createdAt,
          refreshHash: deviceHash(code, client.id),
        },
        DEVICE_LIFETIME_MS,
      );
      try {
        await sessions.create(session, signal);
        return { deviceCode: code.text, userCode };
      } catch (error) {
        if (!isAlreadyExists(error)) throw error;
      }
    }
    throw tooMany();
  }

  /**
   * From the cache: typing random codes costs the cluster nothing. Throws OAuthError 503 while the cache is not current.
   */
  find(id: string): DeviceRequest | undefined {
    this.#checkSight();
    const found = this.#open(id);
    if (!found) return undefined;
    const { userUID: session, clientID, scopes, source, userAgent } = found;
    return { id, session, clientID, scopes, source, userAgent };
  }

  /** Whether the request still waits, or was approved. From the cache; throws as `find` does. */
  stands({ id, session }: DeviceRequest): boolean {
    this.#checkSight();
    return this.#open(id) !== undefined || this.#options.sessions.get(session) !== undefined;
  }

  /** Makes the session that the device waits for; then the request is closed. Once more by the same person is no harm. */
  async approve(
    { id, session: sessionID }: DeviceRequest,
    by: { readonly account: UserID; readonly credential: PasswordID },
    signal: AbortSignal,
  ): Promise<Approval> {
    const { sessions, now } = this.#options;
    const isTheirs = async (): Promise<boolean> =>
      (await sessions.read(sessionID, signal))?.userUID === by.account.uid;
    const request = this.#open(id);
    if (!request) return (await isTheirs()) ? 'approved' : 'gone';
    const session = waitingSession(
      {
        ...request,
        id: sessionID,
        user: by.account.name,
        userUID: by.account.uid,
        createdAt: now(),
        ...beginningWith(by.credential),
      },
      APPROVED_LIFETIME_MS,
    );
    try {
      await sessions.create(session, signal);
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      // The same person again, after an answer was lost: it is already approved.
      if (!(await isTheirs())) return 'decided already';
    }
    // After the session exists, so that the device always finds one of the two. If this fails, it expires.
    await sessions.delete(id, signal);
    return 'approved';
  }

  /** False when it is too late: somebody has approved it. */
  async deny({ id, session }: DeviceRequest, signal: AbortSignal): Promise<boolean> {
    const { sessions } = this.#options;
    if (this.#open(id)) await sessions.delete(id, signal);
    return (await sessions.read(session, signal)) === undefined;
  }

  #open(id: string): StoredSession | undefined {
    const found = this.#options.sessions.get(id);
    return found?.user === NOBODY ? found : undefined;
  }

  #checkSight(): void {
    if (this.#options.sessions.fresh) return;
    throw temporarilyUnavailable('sessions cannot be seen at the moment', 1);
  }

  #checkRoom(source: string): void {
    this.#checkSight();
    const open = this.#options.sessions.ofUser(NOBODY);
    const network = networkOf(source);
    const ofSource = open.filter((request) => networkOf(request.source) === network).length;
    if (open.length >= MAX_OPEN || ofSource >= MAX_OPEN_OF_SOURCE || !this.#writes.take()) throw tooMany();
  }
}

export function deviceHash(code: DeviceCode, clientID: string): string {
  return codeHash(code, [clientID]);
}

function tooMany(): Error {
  return temporarilyUnavailable('too many devices ask for access, try again later', 30);
}
