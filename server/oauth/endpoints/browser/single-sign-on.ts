// Decides whether an authorization request is granted to a user who is signed in, or needs a page first (OpenID Connect
// Core, 3.1.2.1).
import type { BrowserSession } from './browser-sessions.ts';

export interface SignOnRequest {
  readonly prompts: readonly string[];
  readonly loginHint: string;
  /** `max_age`, in seconds. */
  readonly maxAge?: number;
  /** Whether this user is the one that the client expects, and was authenticated recently. */
  readonly accepts: (by: BrowserSession) => boolean;
  /** Whether every use of the client needs a confirmation. */
  readonly confirmed: boolean;
}

export type SignOn =
  | { readonly step: 'continue'; readonly as: BrowserSession }
  | { readonly step: 'choose'; readonly among: readonly BrowserSession[] }
  | { readonly step: 'sign in' };

export function signOn(request: SignOnRequest, signedIn: readonly BrowserSession[]): SignOn {
  const { prompts, loginHint, maxAge, accepts, confirmed } = request;
  if (prompts.includes('login') || maxAge === 0) return { step: 'sign in' };
  const accepted = signedIn.filter(accepts);
  const hinted = accepted.filter(
    ({ account: { name, email } }) => loginHint !== '' && [name, email].includes(loginHint),
  );
  const [only, ...others] = hinted.length > 0 ? hinted : accepted;
  if (!only) return { step: 'sign in' };
  const asks = confirmed || prompts.includes('consent') || prompts.includes('select_account');
  return asks || others.length > 0 ? { step: 'choose', among: accepted } : { step: 'continue', as: only };
}
