// The code grant: RFC 6749, 4.1.3 with PKCE. How codes are made and why they work once: codes/authorization-code.ts.
import type { Logger } from 'pino';
import { isConflict, isNotFound } from '../../../apis/meta/v1/errors.ts';
import { invalidGrant, invalidRequest, temporarilyUnavailable } from '../../../apis/oauth/errors.ts';
import {
  type AuthorizationCode,
  CODE_LIFETIME_MS,
  codeHash,
  familyHash,
  firstRefreshToken,
  hasBegun,
  parseCode,
} from '../codes/authorization-code.ts';
import { challengeOf } from '../codes/challenge.ts';
import { type RandomBytes, sameHash } from '../sessions/refresh-token.ts';
import type { SessionStore, StoredSession } from '../sessions/session.ts';
import { sessionEnd } from '../sessions/session-end.ts';
import { refreshableUntil } from '../sessions/session-opening.ts';
import type { TokenIssuer } from '../tokens/token-issuer.ts';
import type { Account, CredentialStore, UserDirectory } from '../users/account.ts';
import type { Grant, TokenRequest, TokenResponse } from './grant.ts';
import { tokenResponse } from './token-response.ts';

export interface AuthorizationCodeOptions {
  readonly sessions: Pick<SessionStore, 'fresh' | 'get' | 'read' | 'replace' | 'delete'>;
  readonly users: UserDirectory;
  readonly credentials: Pick<CredentialStore, 'get'> & { readonly synced: boolean };
  readonly tokens: Pick<TokenIssuer, 'accessToken' | 'idToken'>;
  /** Ends the sessions that are too many. */
  readonly room: { makeRoom(opened: StoredSession, signal: AbortSignal): Promise<void> };
  readonly random: RandomBytes;
  /** Ms since the epoch. */
  readonly now: () => number;
  readonly log: Pick<Logger, 'warn'>;
}

export class AuthorizationCodeGrant implements Grant {
  readonly type = 'authorization_code';
  readonly #options: AuthorizationCodeOptions;

  constructor(options: AuthorizationCodeOptions) {
    this.#options = options;
  }

  async exchange(request: TokenRequest): Promise<TokenResponse> {
    const { client, form, signal } = request;
    const { sessions, users, credentials } = this.#options;
    const code = parseCode(required(form, 'code'));
    const redirectURI = required(form, 'redirect_uri');
    const challenge = challengeOf(required(form, 'code_verifier'));
    if (!sessions.fresh || !users.synced || !credentials.synced) {
      throw temporarilyUnavailable('sessions can not be seen at the moment', 1);
    }
    if (!code) throw refused('the code is malformed');
    // Most often another replica made the session, a moment ago. A cache that is behind is found out by the update.
    const session = sessions.get(code.sessionID) ?? (await sessions.read(code.sessionID, signal));
    if (!session) throw refused('the code has expired, or its session has ended');
    if (session.clientID !== client.id) throw refused('the code is of another client');
    if (hasBegun(session)) return this.#usedAgain(code, session, signal);
    if (challenge === undefined) throw refused('the verifier is malformed');
    if (!sameHash(session.refreshHash, codeHash(code, { clientID: client.id, redirectURI, challenge }))) {
      throw refused('code, redirect URI or verifier is not the one of the request');
    }
    return this.#begin(code, session, this.#accountOf(session), request);
  }

  async #begin(
    code: AuthorizationCode,
    pending: StoredSession,
    account: Account,
    { client, signal }: TokenRequest,
  ): Promise<TokenResponse> {
    const { random, now, tokens, room } = this.#options;
    const refreshToken = client.grants.includes('refresh_token')
      ? firstRefreshToken(code, random)
      : undefined;
    const end = now() + client.accessTokenLifetime * 1000;
    const session: StoredSession = {
      ...pending,
      lastUsedAt: Math.max(now(), pending.lastUsedAt),
      ...(refreshToken ? refreshableUntil(pending.createdAt, client) : { notAfter: end, idleNotAfter: end }),
      refreshHash: refreshToken?.hash ?? '',
      familyHash: familyHash(code),
    };
    // Signed before the code is used up: a key that is missing must not cost the client its code.
    const response = await tokenResponse(tokens, {
      client,
      account,
      session,
      scopes: session.scopes,
      refreshToken: refreshToken?.text,
      ...(code.nonce === undefined ? {} : { nonce: code.nonce }),
    });
    await room.makeRoom(await this.#useUp(code, session, signal), signal);
    return response;
  }

  /** The update that uses the code up: only one can be made of the session as it was read. */
  async #useUp(code: AuthorizationCode, session: StoredSession, signal: AbortSignal): Promise<StoredSession> {
    const { sessions } = this.#options;
    try {
      return await sessions.replace(session, signal);
    } catch (error) {
      if (isNotFound(error)) throw refused('the session of the code has ended');
      if (!isConflict(error)) throw error;
    }
    const changed = await sessions.read(session.id, signal);
    if (changed && hasBegun(changed)) return this.#usedAgain(code, changed, signal);
    throw refused('the session of the code was changed');
  }

  /**
   * RFC 6749, 4.1.2: a code that comes twice has been seen by somebody whom it was not meant for, so what was made
   * from it ends. Not after its time: then it proves no more than that somebody keeps old addresses.
   */
  async #usedAgain(code: AuthorizationCode, session: StoredSession, signal: AbortSignal): Promise<never> {
    const { sessions, now, log } = this.#options;
    const genuine = sameHash(session.familyHash, familyHash(code));
    if (genuine && now() < session.createdAt + CODE_LIFETIME_MS) {
      await sessions.delete(session.id, signal);
      const { id, user, clientID } = session;
      log.warn(
        { session: id, user, client: clientID },
        'session ended: its authorization code was used twice',
      );
    }
    throw refused('the code was used already');
  }

  #accountOf(session: StoredSession): Account {
    const { users, credentials } = this.#options;
    const account = users.get(session.user);
    const end = sessionEnd(session, account, credentials.get(session.user));
    if (!account || end !== undefined) throw refused(end ?? 'user deleted');
    return account;
  }
}

function required(form: TokenRequest['form'], name: string): string {
  const value = form.get(name);
  if (value === undefined) throw invalidRequest(`${name} is missing`);
  return value;
}

/** One answer for all that is wrong with a code. */
function refused(cause: string): Error {
  return invalidGrant('the code is not valid', new Error(cause));
}
