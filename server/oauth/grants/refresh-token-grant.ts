// Handles the refresh_token grant (RFC 6749, 6) with rotation. Within seconds of a refresh, its token gets the same
// response again; after that, its reuse terminates the session (RFC 9700, 4.14.2).

import type { Logger } from 'pino';
import { isConflict, isNotFound } from '../../../apis/meta/v1/errors.ts';
import { RefreshTokenFormSchema } from '../../../apis/oauth/forms.ts';
import { invalidGrant, type OAuthError, temporarilyUnavailable } from '../../../apis/oauth/oauth-error.ts';
import type { CallContext } from '../../cluster/call-context.ts';
import type { OAuthClient } from '../clients/oauth-client.ts';
import { mayBeStale } from '../codes/session-code.ts';
import { requestedScopes } from '../http/form.ts';
import { FormDecoder } from '../http/form-decoder.ts';
import type { KeyRing } from '../keys/key-ring.ts';
import type { SessionFreshness } from '../providers/session-freshness.ts';
import {
  readAfterLostResponse,
  type SessionStore,
  type StoredSession,
  sameHash,
} from '../sessions/session.ts';
import { idleExpiry, parseRefreshToken, type RefreshToken, successors } from '../sessions/session-creator.ts';
import type { SessionValidity } from '../sessions/session-validity.ts';
import type { TokenIssuer, TokenResponse } from '../tokens/token-issuer.ts';
import type { Account } from '../users/account.ts';
import { checkFresh, type Grant, type TokenRequest } from './grant.ts';

interface RefreshTokenGrantOptions {
  readonly sessions: SessionStore;
  readonly validity: Pick<SessionValidity, 'synced' | 'accountOf' | 'confirmedEnd'>;
  /** Asks the identity provider of the session, if it has one. */
  readonly freshness: Pick<SessionFreshness, 'renewed'>;
  readonly tokens: Pick<TokenIssuer, 'tokenResponse'>;
  readonly keys: Pick<KeyRing, 'macs'>;
  /** Ms since the epoch. */
  readonly now: () => number;
  readonly log: Pick<Logger, 'warn'>;
  readonly observer?: RefreshObserver;
}

interface RefreshObserver {
  refreshed(client: string): void;
  /** The token before the current one was presented, and got the current one again. */
  repeated(client: string): void;
  /** A used token was presented, and its session was terminated. */
  reused(client: string): void;
}

const FORM = new FormDecoder(RefreshTokenFormSchema);

/** Maximum number of writes. A write conflicts if another writer has changed the session without rotating the token. */
const ATTEMPTS = 5;
/**
 * Minimum interval between writes of `lastUsedAt` for a client without rotation, so that concurrent uses cause one write.
 */
const RECORD_INTERVAL_MS = 10_000;
/**
 * Time after a refresh in which its token gets the same successor again: a client whose response was lost retries, and
 * tabs of a browser refresh at the same time.
 */
export const REPEAT_MS = 10_000;

type RefreshRequest = TokenRequest & { readonly scope: string | undefined };
type Granted = TokenRequest & {
  readonly account: Account;
  readonly scopes: readonly string[];
  /** With the current groups of the identity provider. */
  readonly session: StoredSession;
};

/**
 * Rotation can be disabled for clients that use a refresh token again later. The client secret then protects the token (RFC
 * 9700, 2.2.2).
 */
export class RefreshTokenGrant implements Grant {
  readonly #options: RefreshTokenGrantOptions;

  constructor(options: RefreshTokenGrantOptions) {
    this.#options = options;
  }

  async exchange(request: TokenRequest): Promise<TokenResponse> {
    const { refresh_token: text, scope } = FORM.decode(request.form);
    checkFresh(this.#options);
    const token = parseRefreshToken(text);
    if (!token) throw invalidToken('the refresh token is malformed');
    let session = this.#options.sessions.get(token.sessionID);
    // The cache may lag behind a rotation at another replica.
    if (!session || !sameHash(session.refreshHash, token.hash)) {
      const isForeign = session && (session.clientID !== request.client.id || !mayBeStale(session, token));
      if (isForeign) throw invalidToken('the token is not of this session, or of another client');
      session = await this.#read(token, request);
    }
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      if (!session) throw invalidToken('session not found');
      const response = await this.#use(token, session, { ...request, scope });
      if (response) return response;
      session = await this.#read(token, request);
    }
    throw temporarilyUnavailable('the session is being modified, try again', 1);
  }

  /** Undefined after a conflict: the caller reads the session again. */
  async #use(
    token: RefreshToken,
    session: StoredSession,
    request: RefreshRequest,
  ): Promise<TokenResponse | undefined> {
    const { client } = request;
    // Another client must not be able to terminate the session.
    if (session.clientID !== client.id) throw invalidToken('the token belongs to another client');
    if (!sameHash(session.refreshHash, token.hash)) {
      if (!sameHash(session.familyHash, token.familyHash)) {
        throw invalidToken('the token is not of this session');
      }
      const current = this.#currentAfter(token, session, client);
      if (!current) return this.#rejectReuse(session, request);
      await this.#checkUser(session, request);
      // The person was confirmed moments ago, by the refresh that is repeated.
      const response = this.#response(current, this.#granted(session, request));
      this.#options.observer?.repeated(client.id);
      return response;
    }
    return this.#refresh(token, await this.#grantedBy(session, request));
  }

  /** The current token of the session, if `token` was exchanged for it moments ago. */
  #currentAfter(token: RefreshToken, session: StoredSession, client: OAuthClient): RefreshToken | undefined {
    const { keys, now } = this.#options;
    if (!client.rotatesRefreshTokens || now() >= session.lastUsedAt + REPEAT_MS) return undefined;
    return successors(token, keys).find(({ hash }) => sameHash(session.refreshHash, hash));
  }

  async #grantedBy(stored: StoredSession, request: RefreshRequest): Promise<Granted> {
    const { freshness } = this.#options;
    await this.#checkUser(stored, request);
    const isConfirmed = stored.authentication?.proof.kind !== 'identity';
    const session = isConfirmed ? stored : await freshness.renewed(stored, request);
    if (typeof session === 'string') throw invalidToken(session);
    // A group that the provider has just granted may require a second factor.
    if (!isConfirmed) await this.#checkUser(session, request);
    return this.#granted(session, request);
  }

  #granted(session: StoredSession, request: RefreshRequest): Granted {
    const { validity } = this.#options;
    const account = validity.accountOf(session);
    if (!account) throw invalidToken('user deleted');
    // Scopes that the client has lost since the sign-in are dropped.
    const granted = session.scopes.filter((scope) => request.client.scopes.includes(scope));
    const scopes = requestedScopes(request.scope, granted);
    return { ...request, account, session, scopes: scopes.length > 0 ? scopes : granted };
  }

  #response({ text }: RefreshToken, { client, account, session, scopes }: Granted): TokenResponse {
    return this.#options.tokens.tokenResponse({ client, account, session, scopes, refreshToken: text });
  }

  /** Undefined after a conflict. */
  async #refresh(token: RefreshToken, granted: Granted): Promise<TokenResponse | undefined> {
    const { sessions, keys, now, observer } = this.#options;
    const { client, session } = granted;
    const next = client.rotatesRefreshTokens ? successors(token, keys)[0] : token;
    // The tokens are signed before the write: if no key is available, the refresh token stays valid for a retry.
    const response = this.#response(next, granted);
    const usedAt = Math.max(now(), session.lastUsedAt);
    const used = {
      ...session,
      generation: session.generation + 1,
      refreshHash: next.hash,
      lastUsedAt: usedAt,
      idleNotAfter: idleExpiry(usedAt, session.notAfter, client),
    };
    const isRecorded = next === token && usedAt < session.lastUsedAt + RECORD_INTERVAL_MS;
    if (!isRecorded && !(await this.#write(used, sessions, granted))) return undefined;
    observer?.refreshed(client.id);
    return response;
  }

  /** False after a conflict. */
  async #write(used: StoredSession, sessions: SessionStore, call: CallContext): Promise<boolean> {
    try {
      await sessions.replace(used, call.signal);
      return true;
    } catch (error) {
      if (isConflict(error)) return false;
      if (isNotFound(error)) throw invalidToken('the session was terminated');
      // Without rotation the hash does not change, so this always finds the token; at worst, one use is not recorded.
      if (await readAfterLostResponse(sessions, used, call)) return true;
      throw unavailable(error);
    }
  }

  /** Undefined after a conflict: the session may have been rotated, and the token may be the current one. */
  async #rejectReuse(session: StoredSession, { client, source, signal }: TokenRequest): Promise<undefined> {
    const { id, user, uid, resourceVersion } = session;
    try {
      await this.#options.sessions.delete(id, signal, { uid, resourceVersion });
    } catch (error) {
      if (isConflict(error)) return undefined;
      throw unavailable(error);
    }
    this.#options.observer?.reused(client.id);
    this.#options.log.warn(
      { session: id, user, client: client.id, source },
      'session terminated: an old refresh token was used again and may be stolen',
    );
    throw invalidToken('the token was already used');
  }

  /** Does not delete an invalid session, because the user cache may lag; the reaper deletes it later. */
  async #checkUser(session: StoredSession, call: CallContext): Promise<void> {
    const end = await this.#options.validity.confirmedEnd(session, call).catch((error: unknown) => {
      throw unavailable(error);
    });
    if (end !== undefined) throw invalidToken(end);
  }

  #read(token: RefreshToken, request: TokenRequest): Promise<StoredSession | undefined> {
    return this.#options.sessions.read(token.sessionID, request);
  }
}

/** The reason goes to the log only. */
function invalidToken(reason: string | undefined): OAuthError {
  return invalidGrant('the refresh token is not valid', new Error(reason));
}

function unavailable(cause: unknown): OAuthError {
  return temporarilyUnavailable('cannot store the session', 1, cause);
}
