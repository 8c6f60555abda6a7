// Handles the device_code grant (RFC 8628, 3.4 and 3.5). A device polls until the user approves or denies the
// request.
import { isConflict, isNotFound } from '../../../apis/meta/v1/errors.ts';
import { DeviceCodeFormSchema } from '../../../apis/oauth/forms.ts';
import { OAuthError, temporarilyUnavailable } from '../../../apis/oauth/oauth-error.ts';
import { type DeviceCode, parseDeviceCode } from '../codes/device-codes.ts';
import { APPROVED_LIFETIME_MS, DEVICE_LIFETIME_MS, deviceHash } from '../codes/device-requests.ts';
import {
  beginSession,
  type CodeExchangeOptions,
  endReplayed,
  familyHash,
  firstRefreshToken,
  invalidCode,
} from '../codes/session-code.ts';
import { FormDecoder } from '../http/form-decoder.ts';
import {
  isPending,
  type ObjectVersion,
  readAfterLostResponse,
  type StoredSession,
  sameHash,
} from '../sessions/session.ts';
import { RateLimit } from '../throttle/rate-limit.ts';
import type { TokenResponse } from '../tokens/token-issuer.ts';
import { checkFresh, type Grant, type TokenRequest } from './grant.ts';

interface DeviceCodeGrantOptions extends CodeExchangeOptions {
  /** Monotonic ms. */
  readonly monotonic: () => number;
}

/** Maximum number of writes. A write conflicts if another writer has changed the session, for instance added a label. */
const ATTEMPTS = 5;
/** Time after which the watch has delivered an open request to this replica. */
const WATCH_DELAY_MS = 10_000;

const FORM = new FormDecoder(DeviceCodeFormSchema);

export class DeviceCodeGrant implements Grant {
  readonly #options: DeviceCodeGrantOptions;
  /** Polls by device (RFC 8628, 3.5); each replica counts separately. */
  readonly #polls: RateLimit;

  constructor(options: DeviceCodeGrantOptions) {
    this.#options = options;
    const perSecond = (POLLS * 1000) / (POLL_INTERVAL * 1000 - LEEWAY_MS);
    this.#polls = new RateLimit({
      burst: POLLS,
      perSecond,
      keys: MAX_DEVICES,
      monotonic: options.monotonic,
    });
  }

  async exchange(request: TokenRequest): Promise<TokenResponse> {
    const { device_code: text } = FORM.decode(request.form);
    checkFresh(this.#options);
    const code = parseDeviceCode(text);
    if (!code) throw invalidCode('the device code is malformed');
    const hash = deviceHash(code, request.client.id);
    // The cluster is not read: a later poll finds a session that is not cached yet.
    const session = this.#options.sessions.get(code.sessionID);
    if (!session) throw this.#pending(code, hash);
    if (session.clientID !== request.client.id) throw invalidCode('the code was issued to another client');
    if (!isPending(session)) return this.#rejectReplay(code, session, request);
    if (!sameHash(session.refreshHash, hash)) throw invalidCode('the code does not match');
    const refreshToken = firstRefreshToken(code, this.#options.random);
    const begun = await beginSession(session, { refreshToken }, request, this.#options);
    const stored = await this.#redeem(code, begun.session, request);
    await this.#options.limit.deleteSurplus(stored, request.signal);
    return begun.response;
  }

  /** Writes the started session. The precondition on the version makes a second redemption fail. */
  async #redeem(code: DeviceCode, session: StoredSession, request: TokenRequest): Promise<StoredSession> {
    const { sessions } = this.#options;
    const { signal } = request;
    let version: ObjectVersion = session;
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      try {
        const { uid, resourceVersion } = version;
        return await sessions.replace({ ...session, uid, resourceVersion }, signal);
      } catch (error) {
        if (isNotFound(error)) throw invalidCode('the session of the code was terminated');
        if (!isConflict(error)) {
          // The write may have taken effect although its response was lost. Without this read, the retry of the client
          // would count as a replay and terminate the session.
          const written = await readAfterLostResponse(sessions, session, request);
          if (written) return written;
          throw error;
        }
      }
      const current = await sessions.read(session.id, request);
      if (!current) throw invalidCode('the session of the code was terminated');
      if (!isPending(current)) return this.#rejectReplay(code, current, request);
      version = current;
    }
    throw temporarilyUnavailable('the session is being modified, try again', 1);
  }

  /** After the replay window the session is not terminated, because an old code in a browser history is no sign of theft. */
  async #rejectReplay(code: DeviceCode, session: StoredSession, request: TokenRequest): Promise<never> {
    const genuine = sameHash(session.familyHash, familyHash(code));
    if (genuine && this.#options.now() < session.createdAt + APPROVED_LIFETIME_MS) {
      await endReplayed(session, this.#options, request);
    }
    throw invalidCode('the code was already used');
  }

  #pending(code: DeviceCode, hash: string): Error {
    const { sessions, now } = this.#options;
    const open = sessions.get(code.requestID);
    if (open && !sameHash(open.refreshHash, hash))
      return invalidCode('the device code is of another request');
    const age = now() - code.issuedAt;
    if (age >= DEVICE_LIFETIME_MS) return deviceError('expired_token', 'the device code has expired');
    if (!open && age >= WATCH_DELAY_MS) return deviceError('access_denied', 'the user denied the request');
    if (!this.#polls.take(code.sessionID)) return deviceError('slow_down', 'the device polls too fast');
    return deviceError('authorization_pending', 'the user has not signed in yet');
  }
}

function deviceError(
  code: 'authorization_pending' | 'slow_down' | 'access_denied' | 'expired_token',
  description: string,
): OAuthError {
  return new OAuthError(400, code, description);
}

/** `interval` of the device authorization response, in seconds (RFC 8628, 3.2). */
export const POLL_INTERVAL = 5;
/** Polls in an interval: golang.org/x/oauth2 repeats each one with the other method of client authentication. */
const POLLS = 2;
// Network latency may bring two polls closer together than they were sent.
const LEEWAY_MS = 500;
/** Maximum number of tracked devices. The device with the oldest poll is evicted. */
const MAX_DEVICES = 2000;
