// Creates and parses authorization codes (RFC 6749, 4.1.2) with PKCE (RFC 7636). session-code.ts ensures that each
// code is used only once.
import { hash } from 'node:crypto';
import type { OAuthClient } from '../clients/oauth-client.ts';
import type { RandomBytes } from '../keys/key-ring.ts';
import type { Authentication } from '../sessions/proof.ts';
import { type AcrValue, acrOf } from '../sessions/proof.ts';
import { isPending, type SessionStore } from '../sessions/session.ts';
import { sessionOrigin } from '../sessions/session-creator.ts';
import type { UserID } from '../users/account.ts';
import type { AuthorizationRequest } from './authorization-request.ts';
import { codeHash, pendingSession, type SessionCode } from './session-code.ts';

/** RFC 6749, 4.1.2 allows ten minutes; a browser needs seconds. */
export const CODE_LIFETIME_MS = 60_000;

/**
 * Codes of a user that are not exchanged yet: the clients that a browser opens at the same time. A browser session issues
 * codes without a password, so their number needs a limit.
 */
export const CODES_PER_USER = 20;

/** Parameters that must be equal at the authorization endpoint and the token endpoint. */
export interface CodeBinding {
  readonly clientID: string;
  readonly redirectURI: string;
  /** Without a challenge at the authorization endpoint, the token request must have no verifier (RFC 9700, 4.8.2). */
  readonly challenge?: string | undefined;
}

export interface AuthorizationCode extends SessionCode {
  /** For the ID token; the code's hash covers it. */
  readonly nonce: string | undefined;
}

const CODE = /^pac_(s-[a-z2-7]{20})_[\w-]{43}(?:\.([\w-]+))?$/;
const MAX_LENGTH = 3072;

function newCode(sessionID: string, nonce: string | undefined, random: RandomBytes): AuthorizationCode {
  const suffix = nonce === undefined ? '' : `.${Buffer.from(nonce).toString('base64url')}`;
  return { text: `pac_${sessionID}_${random(32).toString('base64url')}${suffix}`, sessionID, nonce };
}

export function parseCode(text: string): AuthorizationCode | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  const [, sessionID, suffix] = CODE.exec(text) ?? [];
  if (sessionID === undefined) return undefined;
  const nonce = suffix === undefined ? undefined : Buffer.from(suffix, 'base64url').toString();
  return { text, sessionID, nonce };
}

export function boundHash(
  code: AuthorizationCode,
  { clientID, redirectURI, challenge = '' }: CodeBinding,
): string {
  return codeHash(code, [clientID, redirectURI, challenge]);
}

/** Only S256 is supported: the method `plain` reveals the verifier in the authorization request. */
const VERIFIER = /^[A-Za-z0-9._~-]{43,128}$/;

/** The S256 challenge of a code verifier; undefined for a malformed verifier. */
export function challengeOf(verifier: string): string | undefined {
  if (!VERIFIER.test(verifier)) return undefined;
  return hash('sha256', verifier, 'base64url');
}

export interface CodeIssuerOptions {
  readonly sessions: Pick<SessionStore, 'newID' | 'create' | 'delete' | 'ofUser'>;
  readonly random: RandomBytes;
  /** Ms since the epoch. */
  readonly now: () => number;
}

/** An authorization request after a successful sign-in. */
export interface GrantedRequest {
  readonly request: AuthorizationRequest;
  readonly client: OAuthClient;
  readonly account: UserID;
  readonly authentication: Authentication;
  /** Id of the browser session. */
  readonly browser: string;
  readonly source: string;
  readonly userAgent: string;
}

function requestedAcr({ amr }: Authentication, { acr: request }: AuthorizationRequest): { acr?: AcrValue } {
  const acr = acrOf(amr, request);
  return acr === acrOf(amr) ? {} : { acr };
}

export class CodeIssuer {
  readonly #options: CodeIssuerOptions;

  constructor(options: CodeIssuerOptions) {
    this.#options = options;
  }

  /** Stores a pending session and returns its code. At the limit, the oldest code becomes invalid. Throws ServiceUnavailable when the cluster is unavailable. */
  async issue(granted: GrantedRequest, signal: AbortSignal): Promise<string> {
    const { request, client, account, authentication, browser, source, userAgent } = granted;
    const { sessions, random, now } = this.#options;
    const code = newCode(sessions.newID(random), request.nonce, random);
    const session = pendingSession(
      {
        id: code.sessionID,
        user: account.name,
        userUID: account.uid,
        clientID: client.id,
        scopes: request.scopes,
        ...sessionOrigin(source, userAgent),
        createdAt: now(),
        refreshHash: boundHash(code, request),
        authentication: { ...authentication, ...requestedAcr(authentication, request) },
        browser,
        ...(request.claims ? { claims: request.claims } : {}),
      },
      CODE_LIFETIME_MS,
    );
    await this.#deleteSurplus(account, signal);
    await sessions.create(session, signal);
    return code.text;
  }

  async #deleteSurplus({ name }: UserID, signal: AbortSignal): Promise<void> {
    const { sessions } = this.#options;
    const codes = sessions
      .ofUser(name)
      .filter((session) => isPending(session) && session.browser !== undefined);
    if (codes.length < CODES_PER_USER) return;
    const surplus = codes.toSorted((a, b) => b.createdAt - a.createdAt).slice(CODES_PER_USER - 1);
    await Promise.all(surplus.map(({ id }) => sessions.delete(id, signal)));
  }
}
