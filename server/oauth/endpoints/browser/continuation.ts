// Types of the pages of a sign-in: the attempt of a form, how it continues, and what its form shows.
import type { CallContext } from '../../../cluster/call-context.ts';
import type { RequestContext } from '../../../request/request-context.ts';
import type { OAuthClient } from '../../clients/oauth-client.ts';
import type { Alert } from '../../page/form-fields.ts';
import type { Markup } from '../../page/html.ts';
import type { LoginOrigin } from '../../passwords/login-records.ts';
import type { BrowserVersion } from '../../sessions/session.ts';
import type { SignedInOnPage } from './browser-sessions.ts';

/** The steps after a sign-in. `T` is an authorization request, a device request or a visit of the account page. */
export interface Continuation<T> {
  /** Data for the sign-in page. Throws when the request is no longer valid. */
  describe(request: T): {
    /** Undefined for a page of this server. */
    readonly client: Pick<OAuthClient, 'id' | 'displayName'> | undefined;
    readonly scopes: readonly string[];
    /** Display name of the site to which the browser returns; undefined when it stays. */
    readonly destination: string | undefined;
    /** A notice above the form. */
    readonly notice?: Markup;
    /** Whether the user must authenticate again, even if a session exists elsewhere. */
    readonly again?: boolean;
    /** Whether a user who has a second factor must use it, also after a sign-in at the pages of an identity provider. */
    readonly withFactor?: boolean;
  };
  /** Whether the request can be granted to a user who was authenticated earlier. */
  accepts(request: T, by: Pick<SignedIn, 'account' | 'authentication'>): boolean;
  granted(context: RequestContext, request: T, by: SignedIn): Promise<void> | void;
  cancelled(context: RequestContext, request: T): Promise<void> | void;
}

export interface SignedIn extends SignedInOnPage {
  /** The browser session. */
  readonly browser: BrowserVersion;
}

/** An attempt to sign in with a form. */
export interface FormAttempt extends CallContext, LoginOrigin {
  /** The network of the browser. */
  readonly caller: string;
}

/** Initial values of the sign-in form. */
export interface Shown {
  readonly user?: string;
  readonly alert?: Alert;
  /** What has just been done. */
  readonly done?: string | undefined;
}
