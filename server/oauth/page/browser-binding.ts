// Which browser a form was made for: a cookie of random bytes, named in every form's ticket. Another site can neither
// read it nor have it sent along with a form of its own (SameSite), nor set one for us from a sibling domain (the
// prefix __Host-), so a form that was made for another browser is refused.
import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

const COOKIE = '__Host-sign-in';

const IN_HEADER = new RegExp(`(?:^|; ?)${COOKIE}=([\\w-]{22})(?:;|$)`);

export interface Browser {
  readonly id: string;
  /** For the header `Set-Cookie`. Lax, since people come here from other sites. */
  readonly cookie: string;
}

/** The browser's id: the one it sent, or a new one. */
export function browserOf(request: IncomingMessage): Browser {
  const id = knownBrowser(request) ?? randomBytes(16).toString('base64url');
  return { id, cookie: `${COOKIE}=${id}; Path=/; Secure; HttpOnly; SameSite=Lax` };
}

/** Undefined for a browser that is here for the first time, or refuses cookies. */
export function knownBrowser(request: IncomingMessage): string | undefined {
  return IN_HEADER.exec(request.headers.cookie ?? '')?.[1];
}

/** True when the browser itself says that a form was sent from another site. Old ones say nothing; the ticket decides. */
export function comesFromElsewhere(request: IncomingMessage): boolean {
  const site = request.headers['sec-fetch-site'];
  return site !== undefined && site !== 'same-origin';
}
