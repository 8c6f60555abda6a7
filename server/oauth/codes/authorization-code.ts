// Authorization codes (RFC 6749, 4.1.2) with PKCE (RFC 7636). A code is a ticket, so its issue writes nothing.
// authorization-code-grant.ts ensures that each code is used only once.
import { hash } from 'node:crypto';
import type { OAuthClient } from '../clients/oauth-client.ts';
import type { RandomBytes } from '../keys/key-ring.ts';
import { type TicketOptions, type TicketRejection, Tickets } from '../keys/tickets.ts';
import { type AcrValue, type Authentication, acrOf } from '../sessions/proof.ts';
import { type BrowserVersion, isPending, type Session, type SessionStore } from '../sessions/session.ts';
import { sessionOrigin } from '../sessions/session-creator.ts';
import type { RequestedClaims } from '../users/user-claims.ts';
import type { AuthorizationRequest } from './authorization-request.ts';
import { pendingSession } from './session-code.ts';

/** RFC 6749, 4.1.2 allows ten minutes; a browser needs seconds. */
export const CODE_LIFETIME_MS = 60_000;
/** The code is rejected for longer than its lifetime, because the clocks of replicas differ by up to a minute. */
const MARK_LIFETIME_MS = 3 * CODE_LIFETIME_MS;

/**
 * Of one user. A sign-on needs no password, so the number of marks needs a limit: for each client, so that one whose pages sign on again
 * and again keeps the user out of no other.
 */
export const MARKS_PER_CLIENT = 100;

/** Parameters that must be equal at the authorization endpoint and the token endpoint. */
interface CodeBinding {
  readonly redirectURI: string;
  /** Empty without a challenge: then the token request must have no verifier (RFC 9700, 4.8.2). */
  readonly challenge: string | undefined;
}

/** The content of a code. The client and the browser can read it. */
interface Grant {
  /** Id of the session that the exchange creates. */
  readonly sessionID: string;
  /** Id of the mark that the code was used. */
  readonly markID: string;
  readonly clientID: string;
  readonly scopes: readonly string[];
  /** For the ID token. */
  readonly nonce?: string;
  readonly acr?: AcrValue;
  readonly claims?: RequestedClaims;
  /** The browser session, which knows the user, and its generation when it issued the code. */
  readonly browser: BrowserVersion;
  readonly source: string;
}

/** With a `rejection`, the code must not be exchanged. */
export interface AuthorizationCode extends Grant {
  /** Ms since the epoch. */
  readonly issuedAt: number;
  readonly rejection: TicketRejection | undefined;
}

/** An authorization request after a successful sign-in. */
interface GrantedRequest {
  readonly request: AuthorizationRequest;
  readonly client: OAuthClient;
  readonly authentication: Pick<Authentication, 'amr'>;
  readonly browser: BrowserVersion;
  readonly source: string;
}

export interface AuthorizationCodesOptions extends TicketOptions {
  readonly sessions: Pick<SessionStore, 'newID'>;
  readonly random: RandomBytes;
}

const PREFIX = 'pac_';

export class AuthorizationCodes {
  readonly #options: AuthorizationCodesOptions;
  readonly #tickets: Tickets<Grant>;

  constructor(options: AuthorizationCodesOptions) {
    this.#options = options;
    this.#tickets = new Tickets('authorization code', CODE_LIFETIME_MS, options);
  }

  /** Throws ServiceUnavailable (StatusError) while there is no key. */
  issue({ request, client, authentication, browser, source }: GrantedRequest): string {
    const { sessions, random } = this.#options;
    const { scopes, nonce, claims, redirectURI, challenge = '' } = request;
    const { id, generation } = browser;
    const content: Grant = {
      sessionID: sessions.newID(random),
      markID: sessions.newID(random),
      clientID: client.id,
      scopes,
      ...(nonce === undefined ? {} : { nonce }),
      ...requestedAcr(authentication, request),
      ...(claims ? { claims } : {}),
      browser: { id, generation },
      source: sessionOrigin(source, '').source,
    };
    return `${PREFIX}${this.#tickets.seal(content, holderOf({ redirectURI, challenge }))}`;
  }

  /** Undefined for a text that this server has not issued, or whose key was removed. */
  open(text: string, binding: CodeBinding): AuthorizationCode | undefined {
    if (!text.startsWith(PREFIX)) return undefined;
    const opened = this.#tickets.open(text.slice(PREFIX.length), holderOf(binding));
    if (!opened) return undefined;
    const { content, issuedAt, rejection } = opened;
    return { ...content, issuedAt, rejection };
  }
}

function requestedAcr(
  { amr }: Pick<Authentication, 'amr'>,
  { acr: request }: AuthorizationRequest,
): { acr?: AcrValue } {
  const acr = acrOf(amr, request);
  return acr === acrOf(amr) ? {} : { acr };
}

function holderOf({ redirectURI, challenge }: CodeBinding): string {
  // A malformed verifier has no challenge, and JSON distinguishes it from the empty one.
  return JSON.stringify([redirectURI, challenge]);
}

/** Only S256 is supported: the method `plain` reveals the verifier in the authorization request. */
const VERIFIER = /^[A-Za-z0-9._~-]{43,128}$/;

/** The S256 challenge of a code verifier; undefined for a malformed verifier. */
export function challengeOf(verifier: string): string | undefined {
  if (!VERIFIER.test(verifier)) return undefined;
  return hash('sha256', verifier, 'base64url');
}

/**
 * The mark that a code was used, a pending session that no code can start. It outlives the session, so a replay cannot create
 * the session again after a sign-out. `attempt` identifies the exchange.
 */
export function usedMark({ markID }: AuthorizationCode, session: Session, attempt: string): Session {
  return pendingSession({ ...session, id: markID, refreshHash: attempt }, MARK_LIFETIME_MS);
}

/** The approval of a device has no browser session. */
export function isUsedMark(session: Session): boolean {
  return isPending(session) && session.browser !== undefined;
}
