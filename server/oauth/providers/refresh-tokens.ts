// The refresh tokens of OpenID providers for their people. Each is valid once, so all sessions of a person share the one in the
// Identity object, and replicas use it one after another: a second use can make a provider revoke all of them.
import { setTimeout as delay } from 'node:timers/promises';
import type { Seal } from '../keys/seal.ts';
import type { Identity, IdentityStore } from '../users/identity-store.ts';
import { ProviderUnavailable, REQUEST_MS } from './provider.ts';

interface RefreshTokensOptions {
  readonly store: Pick<IdentityStore, 'updateRefresh'>;
  readonly seal: Pick<Seal, 'seal' | 'open'>;
  /** Ms since the epoch. */
  readonly now: () => number;
  /** Monotonic ms. */
  readonly monotonic?: () => number;
}

/** The result of a use. */
interface Refreshed {
  /** The next token, if the provider has issued one. */
  readonly refreshToken?: string | undefined;
}

/** Longer than the requests of a confirmation: metadata, tokens, keys and userinfo. After it, the replica that began a use has stopped. */
export const MAX_USE_MS = 5 * REQUEST_MS;
const POLL_MS = 100;
/** A use is completed without its client: otherwise, disconnecting would lose the next token. */
const WRITE_TIMEOUT_MS = 5_000;

export class RefreshTokens {
  readonly #options: RefreshTokensOptions;
  readonly #monotonic: () => number;

  constructor(options: RefreshTokensOptions) {
    this.#options = options;
    this.#monotonic = options.monotonic ?? (() => performance.now());
  }

  /** Replaces the token of a person who has just signed in. */
  async set(identity: Identity, token: string, signal: AbortSignal): Promise<void> {
    const sealed = await this.#options.seal.seal(token);
    await this.#options.store.updateRefresh(identity, () => ({ token: sealed }), signal);
  }

  /**
   * Passes the current token to `use` when no other replica uses it, and stores the next one. Throws what `use` throws, and
   * ServiceUnavailable while the token cannot be stored.
   */
  async use<Result extends Refreshed | string>(
    identity: Identity,
    use: (token: string | undefined) => Promise<Result>,
  ): Promise<Result> {
    const { seal } = this.#options;
    const claimed = await this.#claim(identity);
    if (!claimed) return use(undefined);
    const { token: sealed, usedTime } = claimed;
    let next: string | undefined;
    try {
      const result = await use(await seal.open(sealed));
      if (typeof result !== 'string') next = result.refreshToken;
      return result;
    } catch (error) {
      if (error instanceof ProviderUnavailable) next = error.refreshToken;
      throw error;
    } finally {
      const token = next === undefined ? sealed : await seal.seal(next);
      await this.#options.store.updateRefresh(
        identity,
        // A sign-in meanwhile has stored another one.
        (current) => (current?.usedTime === usedTime ? { token } : undefined),
        AbortSignal.timeout(WRITE_TIMEOUT_MS),
      );
    }
  }

  /** Waits until no other replica uses the token. Undefined without a token. */
  async #claim(identity: Identity) {
    const { store, now } = this.#options;
    let busy: string | undefined;
    let since = 0;
    while (true) {
      let known = false;
      let usedBy: string | undefined;
      const claimed = await store.updateRefresh(
        identity,
        (current) => {
          known = current !== undefined;
          usedBy = current?.usedTime;
          // The clocks of replicas differ, so a use is over after an unchanged time, and not at a time.
          const isOver = usedBy === busy && this.#monotonic() >= since + MAX_USE_MS;
          if (!current || (usedBy !== undefined && !isOver)) return undefined;
          return { token: current.token, usedTime: new Date(now()).toISOString() };
        },
        AbortSignal.timeout(WRITE_TIMEOUT_MS),
      );
      if (claimed || !known) return claimed;
      if (usedBy !== busy) {
        busy = usedBy;
        since = this.#monotonic();
      }
      await delay(POLL_MS);
    }
  }
}
