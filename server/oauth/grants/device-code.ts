// The device grant: RFC 8628, 3.4 and 3.5. Where requests wait: codes/device-requests.ts.
import { invalidRequest, OAuthError } from '../../../apis/oauth/errors.ts';
import { type DeviceCode, parseDeviceCode } from '../codes/device-code.ts';
import { APPROVED_LIFETIME_MS, DEVICE_LIFETIME_MS, deviceHash } from '../codes/device-requests.ts';
import { PollPace } from '../codes/poll-pace.ts';
import { sameHash } from '../sessions/refresh-token.ts';
import { CodeExchange, type CodeExchangeOptions, refused } from './code-exchange.ts';
import type { Grant, TokenRequest, TokenResponse } from './grant.ts';
import { checkSight } from './sight.ts';

export interface DeviceCodeOptions extends CodeExchangeOptions {
  /** Ms that never go back. */
  readonly monotonic: () => number;
}

/** How long a request may need to reach this replica by watch. */
const SETTLE_MS = 10_000;

export class DeviceCodeGrant implements Grant {
  readonly type = 'urn:ietf:params:oauth:grant-type:device_code';
  readonly #options: DeviceCodeOptions;
  readonly #exchange: CodeExchange;
  readonly #pace: PollPace;

  constructor(options: DeviceCodeOptions) {
    this.#options = options;
    this.#exchange = new CodeExchange(options);
    this.#pace = new PollPace(options);
  }

  async exchange(request: TokenRequest): Promise<TokenResponse> {
    const text = request.form.get('device_code');
    if (text === undefined) throw invalidRequest('device_code is missing');
    checkSight(this.#options);
    const code = parseDeviceCode(text);
    if (!code) throw refused('the device code is malformed');
    const hash = deviceHash(code, request.client.id);
    // The cache is enough: the next poll finds what is missing in it now.
    const session = this.#options.sessions.get(code.sessionID);
    if (!session) throw this.#waiting(code, hash);
    return this.#exchange.begin({ code, hash, watchedMs: APPROVED_LIFETIME_MS }, session, request);
  }

  #waiting(code: DeviceCode, hash: string): Error {
    const { sessions, now } = this.#options;
    const open = sessions.get(code.requestID);
    if (open && !sameHash(open.refreshHash, hash)) return refused('the device code is of another request');
    const age = now() - code.issuedAt;
    if (age >= DEVICE_LIFETIME_MS) return answer('expired_token', 'the device code has expired');
    if (!open && age >= SETTLE_MS) return answer('access_denied', 'the request was refused');
    if (this.#pace.tooFast(code.sessionID)) return answer('slow_down', 'the device polls too fast');
    return answer('authorization_pending', 'nobody has signed in for the device yet');
  }
}

function answer(
  code: 'authorization_pending' | 'slow_down' | 'access_denied' | 'expired_token',
  description: string,
): OAuthError {
  return new OAuthError(400, code, description);
}
