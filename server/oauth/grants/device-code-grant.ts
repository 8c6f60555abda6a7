// Handles the device_code grant (RFC 8628, 3.4 and 3.5). A device polls until the user approves or denies the
// request.
import { DeviceCodeFormSchema } from '../../../apis/oauth/forms.ts';
import { OAuthError } from '../../../apis/oauth/oauth-error.ts';
import { type DeviceCode, parseDeviceCode } from '../codes/device-codes.ts';
import { APPROVED_LIFETIME_MS, DEVICE_LIFETIME_MS, deviceHash } from '../codes/device-requests.ts';
import { FormDecoder } from '../http/form-decoder.ts';
import { sameHash } from '../sessions/session.ts';
import { RateLimit } from '../throttle/rate-limit.ts';
import type { TokenResponse } from '../tokens/token-issuer.ts';
import { CodeExchange, type CodeExchangeOptions, invalidCode } from './code-exchange.ts';
import { checkFresh, type Grant, type TokenRequest } from './grant.ts';

export interface DeviceCodeGrantOptions extends CodeExchangeOptions {
  /** Monotonic ms. */
  readonly monotonic: () => number;
}

/** Time after which the watch has delivered an open request to this replica. */
const WATCH_DELAY_MS = 10_000;

const FORM = new FormDecoder(DeviceCodeFormSchema);

export class DeviceCodeGrant implements Grant {
  readonly #options: DeviceCodeGrantOptions;
  readonly #exchange: CodeExchange;
  /** Polls by device (RFC 8628, 3.5); each replica counts separately. */
  readonly #polls: RateLimit;

  constructor(options: DeviceCodeGrantOptions) {
    this.#options = options;
    this.#exchange = new CodeExchange(options);
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
    return this.#exchange.start({ code, hash, replayWindowMs: APPROVED_LIFETIME_MS }, session, request);
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
