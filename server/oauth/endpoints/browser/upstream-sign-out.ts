// Continues a sign-out at the identity provider, whose own session would otherwise sign the person in again without a question. The
// session here has ended before. A cookie makes the next sign-in at this provider ask for the person, also if the person leaves the page of
// the provider without an answer.
import type { IncomingMessage } from 'node:http';
import type { Handler, RequestContext } from '../../../request/request-context.ts';
import { withParameters } from '../../codes/redirect-target.ts';
import type { Seal } from '../../keys/seal.ts';
import { browserIDIn, browserOf } from '../../page/form-tickets.ts';
import { HostCookie, messagePage, redirect, writePage } from '../../page/page.ts';
import type { ProviderSignOut } from '../../providers/provider-sign-out.ts';
import type { StoredSession } from '../../sessions/session.ts';
import { type BrowserHandlerOptions, browserHandler, PageError } from './browser-handler.ts';

export interface UpstreamSignOutOptions extends BrowserHandlerOptions {
  readonly providerSignOut: Pick<ProviderSignOut, 'isUsed' | 'providerOf' | 'addressFor'>;
  readonly redirectSeal: Pick<Seal, 'seal' | 'open'>;
}

/** Where the browser goes after the sign-out; only a registered URI. */
export interface SignOutReturn {
  readonly target?: string;
  readonly state?: string;
}

/** The post_logout_redirect_uri of this server at providers. */
export const SIGNED_OUT_PATH = '/oauth/signed-out';

/** Names of providers. */
const COOKIE = new HostCookie('sign-in-again', '[a-z0-9~-]{1,1024}');
/** Longer than most sessions at providers. */
const MAX_AGE = 30 * 86_400;
const MAX_PROVIDERS = 16;

export class UpstreamSignOut {
  /** Receives the browser from the provider. */
  readonly returned: Handler;
  readonly #options: UpstreamSignOutOptions;

  constructor(options: UpstreamSignOutOptions) {
    this.#options = options;
    this.returned = browserHandler(options, (context) => this.#returned(context));
  }

  /** Whether a form of a sign-out can lead to a provider. */
  get isUsed(): boolean {
    return this.#options.providerSignOut.isUsed;
  }

  /**
   * Sends the browser to the provider of one of its sessions, which have ended. False if the sign-out is complete. `ended`: only sessions
   * of this browser, because the address has the ID token of the person.
   */
  async begin(
    context: RequestContext,
    ended: readonly Pick<StoredSession, 'authentication'>[],
    to: SignOutReturn,
  ): Promise<boolean> {
    const { providerSignOut, redirectSeal, issuer } = this.#options;
    const { request, response } = context;
    const left = ended.flatMap((session) => {
      const provider = providerSignOut.providerOf(session);
      return provider === undefined ? [] : [{ session, provider }];
    });
    const [first] = left;
    if (!first) return false;
    setCookie(context, [...left.map(({ provider }) => provider), ...providersIn(request)]);
    const browser = browserOf(request);
    const target = await providerSignOut.addressFor(first.session, {
      redirectURI: new URL(SIGNED_OUT_PATH, issuer()).href,
      state: await redirectSeal.seal(JSON.stringify(to), ownerOf(browser.id)),
    });
    if (!target) return false;
    response.appendHeader('Set-Cookie', browser.cookie);
    redirect(response, target.href);
    return true;
  }

  async #returned(context: RequestContext): Promise<void> {
    const { request, response } = context;
    const sealed = new URL(request.url ?? '', 'https://localhost').searchParams.get('state') ?? '';
    const text = await this.#options.redirectSeal.open(sealed, ownerOf(browserIDIn(request) ?? ''));
    if (text === undefined) {
      throw new PageError(403, 'Nothing was signed out', 'This sign-out did not begin in this browser.');
    }
    // Only `begin` can have sealed it.
    const { target, state } = JSON.parse(text) as SignOutReturn;
    if (target === undefined)
      return writePage(response, messagePage('Signed out', 'You can close this page.'));
    return redirect(response, state === undefined ? target : withParameters(target, { state }));
  }
}

/** Whether the person has signed out at the provider in this browser, and must authenticate there again. */
export function mustSignInAgain(request: IncomingMessage, provider: string): boolean {
  return providersIn(request).includes(provider);
}

/** After a new sign-in. */
export function hasSignedInAgain(context: RequestContext, provider: string): void {
  const providers = providersIn(context.request);
  const others = providers.filter((other) => other !== provider);
  if (others.length < providers.length) setCookie(context, others);
}

function providersIn(request: IncomingMessage): readonly string[] {
  return COOKIE.read(request)?.split('~') ?? [];
}

function setCookie({ response }: RequestContext, providers: readonly string[]): void {
  const value = [...new Set(providers)].slice(0, MAX_PROVIDERS).join('~');
  response.appendHeader('Set-Cookie', COOKIE.header(value, MAX_AGE));
}

/** The state is valid in one browser. */
function ownerOf(browser: string): string {
  return JSON.stringify([SIGNED_OUT_PATH, browser]);
}
