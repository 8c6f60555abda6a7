// Stores open device authorization requests (RFC 8628) as Session objects. Every replica reads the same requests.

import { isAlreadyExists } from '../../../apis/meta/v1/errors.ts';
import { temporarilyUnavailable } from '../../../apis/oauth/oauth-error.ts';
import { networkOf, siteOf } from '../../admission/network.ts';
import type { CallContext } from '../../cluster/call-context.ts';
import type { ClientOrigin } from '../../request/source-address.ts';
import type { OAuthClient } from '../clients/oauth-client.ts';
import type { RandomBytes } from '../keys/key-ring.ts';
import type { Authentication } from '../sessions/proof.ts';
import {
  type BrowserVersion,
  isCurrent,
  NO_USER,
  type SessionStore,
  type StoredSession,
} from '../sessions/session.ts';
import { sessionOrigin } from '../sessions/session-creator.ts';
import { RateLimit } from '../throttle/rate-limit.ts';
import type { UserID } from '../users/account.ts';
import { type DeviceCode, newDeviceCode, newUserCode, requestID } from './device-codes.ts';
import { codeHash, pendingSession } from './session-code.ts';

export const DEVICE_LIFETIME_MS = 600_000;
/** Time for a device to fetch the tokens after the approval. */
export const APPROVED_LIFETIME_MS = 120_000;

export interface DeviceRequestsOptions {
  readonly sessions: Pick<SessionStore, 'fresh' | 'get' | 'read' | 'newID' | 'create' | 'delete' | 'ofUser'>;
  readonly random: RandomBytes;
  /** Ms since the epoch. */
  readonly now: () => number;
  /** Monotonic ms. */
  readonly monotonic: () => number;
}

/** An open request. */
export interface DeviceRequest extends ClientOrigin {
  readonly id: string;
  /** Id of the session that an approval creates. */
  readonly session: string;
  readonly clientID: string;
  readonly scopes: readonly string[];
}

type Approval = 'approved' | 'already decided' | 'not found';

// Limits of unauthenticated requests: open requests in total, open requests per site (IPv4 /24, IPv6 /48), and
// the rate of writes.
const MAX_OPEN = 200;
const MAX_OPEN_OF_SITE = 20;
const WRITES_PER_SECOND = 5;
/** The one key: all clients share the rate of writes. */
const WRITES = 'writes';
const ATTEMPTS = 5;

/**
 * The device code contains the id of a pending session (session-code.ts), which the approval creates. A second
 * approval fails, because that session already exists.
 */
export class DeviceRequests {
  readonly #options: DeviceRequestsOptions;
  readonly #writes: RateLimit;

  constructor(options: DeviceRequestsOptions) {
    const { monotonic } = options;
    this.#options = options;
    const perSecond = WRITES_PER_SECOND;
    this.#writes = new RateLimit({ burst: 4 * perSecond, perSecond, keys: 1, monotonic });
  }

  /** Throws OAuthError 503 at the limit of open requests. */
  async open(
    client: OAuthClient,
    scopes: readonly string[],
    origin: ClientOrigin,
    signal: AbortSignal,
  ): Promise<{ readonly deviceCode: string; readonly userCode: string }> {
    const { sessions, random, now } = this.#options;
    const shown = sessionOrigin(origin.source, origin.userAgent);
    this.#checkLimits(shown.source);
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const userCode = newUserCode(random);
      const createdAt = now();
      const id = requestID(userCode);
      const code = newDeviceCode({ sessionID: sessions.newID(random), requestID: id }, createdAt, random);
      const session = pendingSession(
        {
          id,
          user: NO_USER,
          // Id of the session that an approval creates.
          userUID: code.sessionID,
          clientID: client.id,
          scopes,
          ...shown,
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
   * Returns an open request from the cache; guessed codes cause no reads of the cluster. Throws OAuthError 503 while the
   * cache is stale.
   */
  find(id: string): DeviceRequest | undefined {
    this.#checkFresh();
    const found = this.#open(id);
    if (!found) return undefined;
    const { userUID: session, clientID, scopes, source, userAgent } = found;
    return { id, session, clientID, scopes, source, userAgent };
  }

  /** Whether the request is open or approved. From the cache; throws as `find` does. */
  isOpenOrApproved({ id, session }: DeviceRequest): boolean {
    this.#checkFresh();
    return this.#open(id) !== undefined || this.#options.sessions.get(session) !== undefined;
  }

  /** Creates the session that the device polls for, then deletes the request. Idempotent for the same user. */
  async approve(
    { id, session: sessionID }: DeviceRequest,
    by: {
      readonly account: UserID;
      readonly authentication: Authentication;
      readonly browser: BrowserVersion;
    },
    call: CallContext,
  ): Promise<Approval> {
    const { sessions, now } = this.#options;
    const isApprovedByUser = async (): Promise<boolean> =>
      (await sessions.read(sessionID, call))?.userUID === by.account.uid;
    const request = this.#open(id);
    if (!request) return (await isApprovedByUser()) ? 'approved' : 'not found';
    const session = pendingSession(
      {
        ...request,
        id: sessionID,
        user: by.account.name,
        userUID: by.account.uid,
        createdAt: now(),
        authentication: by.authentication,
      },
      APPROVED_LIFETIME_MS,
    );
    try {
      await sessions.create(session, call.signal);
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      // The same user may retry after a lost response.
      if (!(await isApprovedByUser())) return 'already decided';
    }
    if (!(await isCurrent(by.browser, sessions, call))) {
      await sessions.delete(sessionID, call.signal);
      return 'not found';
    }
    // The request is deleted after the session is created, so the device always finds one of them. If the deletion fails,
    // the request expires.
    await sessions.delete(id, call.signal);
    return 'approved';
  }

  /** False when the request is already approved. */
  async deny({ id, session }: DeviceRequest, call: CallContext): Promise<boolean> {
    const { sessions } = this.#options;
    if (this.#open(id)) await sessions.delete(id, call.signal);
    return (await sessions.read(session, call)) === undefined;
  }

  #open(id: string): StoredSession | undefined {
    const found = this.#options.sessions.get(id);
    return found?.user === NO_USER ? found : undefined;
  }

  #checkFresh(): void {
    if (this.#options.sessions.fresh) return;
    throw temporarilyUnavailable('the session cache is stale', 1);
  }

  #checkLimits(source: string): void {
    this.#checkFresh();
    const open = this.#options.sessions.ofUser(NO_USER);
    const site = siteOf(networkOf(source));
    const ofSite = open.filter((request) => siteOf(networkOf(request.source)) === site).length;
    if (open.length >= MAX_OPEN || ofSite >= MAX_OPEN_OF_SITE || !this.#writes.take(WRITES)) throw tooMany();
  }
}

export function deviceHash(code: DeviceCode, clientID: string): string {
  return codeHash(code, [clientID]);
}

function tooMany(): Error {
  return temporarilyUnavailable('too many open device requests, try again later', 30);
}
