// Trust check: finds out whether kube-apiserver accepts the tokens of one kind that the gateway forwards. It periodically sends a
// SelfSubjectReview with a token of this server.
import type { Logger } from 'pino';
import { recordIn, text } from '../../apis/reading/unknown-value.ts';
import type { ClusterClient } from '../cluster/connection/client.ts';
import { readBody } from '../cluster/connection/response-body.ts';
import { boundedSignal } from '../concurrency/bounded-signal.ts';
import { pause } from '../concurrency/pause.ts';
import { isPlainJSON } from './response-headers.ts';

/** A token of this server for a user without groups and without a session, and its user name. */
export interface CheckToken {
  readonly text: string;
  readonly user: string;
}

/** Tokens of one kind. */
export interface CheckedTokens {
  readonly title: () => string;
  /** What to do if kube-apiserver rejects them. */
  readonly cure: string;
  /** Undefined while there is no signing key. */
  readonly token: () => CheckToken | undefined;
}

interface TrustCheckOptions extends CheckedTokens {
  /** A client without credentials. */
  readonly client: Pick<ClusterClient, 'open'>;
  /** Value of the header `Via`, by which the gateway detects that it forwards to itself. */
  readonly via: string;
  readonly log: Logger;
  /** Monotonic clock in ms. */
  readonly monotonic: () => number;
}

/** `unknown`: kube-apiserver did not respond to the last check, or there was none yet. */
type Trust =
  | { readonly state: 'trusted' }
  | { readonly state: 'rejected' }
  | { readonly state: 'renamed'; readonly user: string; readonly expected: string }
  | { readonly state: 'unknown'; readonly reason: string; readonly cause?: unknown };

const NO_KEY: Trust = { state: 'unknown', reason: 'this server has no signing key yet' };
const TIMEOUT_MS = 10_000;
/** Interval while the tokens are accepted, in ms. */
const INTERVAL_MS = 60_000;
/** Interval while they are not, in ms. */
const RETRY_MS = 10_000;
/** The same during GRACE_MS after the start. Later, kube-apiserver would log each of these rejections. */
const START_RETRY_MS = 2_000;
/**
 * Time in ms without a warning. A rejection is normal until kube-apiserver has read the keys of this server, which it tries every ten
 * seconds.
 */
const GRACE_MS = 20_000;
const MAX_BODY = 1 << 20;

export class TrustCheck {
  readonly #options: TrustCheckOptions;
  #logged = '';
  #rejectedSince: number | undefined;
  #trust: Trust = { state: 'unknown', reason: 'not checked yet' };
  #pending: Promise<void> | undefined;

  constructor(options: TrustCheckOptions) {
    this.#options = options;
  }

  get trusted(): boolean {
    return this.#trust.state === 'trusted';
  }

  /** Checks until the signal is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const { monotonic } = this.#options;
    const began = monotonic();
    while (!signal.aborted) {
      await this.#checked(signal);
      const retryMs = monotonic() - began < GRACE_MS ? START_RETRY_MS : RETRY_MS;
      await pause(this.trusted ? INTERVAL_MS : retryMs, signal);
    }
  }

  /** Checks now. Returns the cause and the cure if kube-apiserver rejects all tokens of this server, else undefined. */
  async rejection(signal: AbortSignal): Promise<string | undefined> {
    await this.#checked(signal);
    return this.#trust.state === 'rejected' ? this.describe() : undefined;
  }

  /** One sentence for `/readyz?verbose` and errors, without internal text. */
  describe(): string {
    const { cure } = this.#options;
    const title = this.#options.title();
    const trust = this.#trust;
    switch (trust.state) {
      case 'trusted':
        return `kube-apiserver accepts ${title}`;
      case 'rejected':
        return `kube-apiserver rejects ${title}: ${cure}`;
      case 'renamed':
        return `kube-apiserver accepts ${title}, but names user "${trust.expected}" "${trust.user}": remove the prefix from claimMappings in the file of --authentication-config of kube-apiserver`;
      default:
        return `it is unknown whether kube-apiserver accepts ${title}: ${trust.reason}`;
    }
  }

  /** Concurrent callers share one check. */
  #checked(signal: AbortSignal): Promise<void> {
    this.#pending ??= this.#check(signal).finally(() => {
      this.#pending = undefined;
    });
    return this.#pending;
  }

  async #check(outer: AbortSignal): Promise<void> {
    using bounded = boundedSignal(outer, TIMEOUT_MS);
    const { signal } = bounded;
    this.#trust = await this.#review(signal);
    // Normal during the start. The health check `oauth` reports a key that stays missing.
    if (this.#trust === NO_KEY || this.#isFreshlyRejected()) return;
    const description = this.describe();
    if (description === this.#logged || signal.aborted) return;
    this.#logged = description;
    const err = this.#trust.state === 'unknown' ? this.#trust.cause : undefined;
    this.#options.log[this.trusted ? 'info' : 'warn'](err === undefined ? {} : { err }, description);
  }

  #isFreshlyRejected(): boolean {
    if (this.#trust.state !== 'rejected') {
      this.#rejectedSince = undefined;
      return false;
    }
    const now = this.#options.monotonic();
    this.#rejectedSince ??= now;
    return now - this.#rejectedSince < GRACE_MS;
  }

  async #review(signal: AbortSignal): Promise<Trust> {
    try {
      const token = this.#options.token();
      if (!token) return NO_KEY;
      const { user: expected } = token;
      const { code, body } = await this.#send(token.text, signal);
      if (code === 401) return { state: 'rejected' };
      // The token is accepted, although its user lacks the permission for this review.
      if (code === 403) return { state: 'trusted' };
      if (code !== 201) return { state: 'unknown', reason: `the check got status ${code}` };
      const user = text(recordIn(recordIn(body, 'status'), 'userInfo')['username']);
      return user === expected ? { state: 'trusted' } : { state: 'renamed', user, expected };
    } catch (error) {
      return { state: 'unknown', reason: 'the check failed', cause: error };
    }
  }

  /** Sends a SelfSubjectReview. */
  async #send(
    token: string,
    signal: AbortSignal,
  ): Promise<{ readonly code: number; readonly body: unknown }> {
    const { client, via } = this.#options;
    const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
    const response = await client.open({
      method: 'POST',
      path: '/apis/authentication.k8s.io/v1/selfsubjectreviews',
      headers: {
        accept: 'application/json',
        'content-type': 'application/json',
        authorization: `Bearer ${token}`,
        via,
      },
      body: JSON.stringify(review),
      signal,
    });
    const bytes = await readBody(response, MAX_BODY);
    return {
      code: response.statusCode,
      body: isPlainJSON(response) ? JSON.parse(bytes.toString('utf8')) : undefined,
    };
  }
}
