import type { OAuthClient } from '../clients/oauth-client.ts';
import type { RandomBytes } from '../keys/random-bytes.ts';
import { shownSource, shownUserAgent } from '../sessions/client-description.ts';
import type { SessionStore } from '../sessions/session.ts';
import { beginningWith } from '../sessions/session-opening.ts';
import type { PasswordID, UserID } from '../users/account.ts';
import { boundHash, CODE_LIFETIME_MS, newCode } from './authorization-code.ts';
import type { AuthorizationRequest } from './authorization-request.ts';
import { waitingSession } from './session-code.ts';

export interface CodeIssuerOptions {
  readonly sessions: Pick<SessionStore, 'newID' | 'create'>;
  readonly random: RandomBytes;
  /** Ms since the epoch. */
  readonly now: () => number;
}

/** Who signed in, for which request, and from where. */
export interface GrantedRequest {
  readonly request: AuthorizationRequest;
  readonly client: OAuthClient;
  readonly account: UserID;
  /** The one that was checked. */
  readonly credential: PasswordID;
  readonly source: string;
  readonly userAgent: string;
}

export class CodeIssuer {
  readonly #options: CodeIssuerOptions;

  constructor(options: CodeIssuerOptions) {
    this.#options = options;
  }

  /** The code, as text; its session begins when it is exchanged. Throws ServiceUnavailable without the cluster. */
  async issue(granted: GrantedRequest, signal: AbortSignal): Promise<string> {
    const { request, client, account, credential, source, userAgent } = granted;
    const { sessions, random, now } = this.#options;
    const code = newCode(sessions.newID(random), request.nonce, random);
    const session = waitingSession(
      {
        id: code.sessionID,
        user: account.name,
        userUID: account.uid,
        clientID: client.id,
        scopes: request.scopes,
        source: shownSource(source),
        userAgent: shownUserAgent(userAgent),
        createdAt: now(),
        refreshHash: boundHash(code, request),
        ...beginningWith(credential),
      },
      CODE_LIFETIME_MS,
    );
    await sessions.create(session, signal);
    return code.text;
  }
}
