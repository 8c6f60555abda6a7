// Composition of what browsers see: the authorization endpoint, its sign-in form, the style of all pages.
import type { Handler } from '../../../request/request-context.ts';
import type { ClientRegistry } from '../../clients/oauth-client.ts';
import { CodeIssuer } from '../../codes/code-issuer.ts';
import type { SourceAddress } from '../../http/source-address.ts';
import type { KeyRing } from '../../keys/key-ring.ts';
import type { RandomBytes } from '../../keys/random-bytes.ts';
import { STYLE_PATH } from '../../page/page.ts';
import { styleHandler } from '../../page/style.ts';
import type { PasswordHasher } from '../../passwords/hasher.ts';
import type { PasswordSignIn } from '../../passwords/sign-in.ts';
import type { SessionStore } from '../../sessions/session.ts';
import type { CredentialStore } from '../../users/account.ts';
import type { IDTokenHints } from '../id-token-hint.ts';
import { authorizeHandler, codeContinuation } from './authorize.ts';
import { ForcedPasswordChange } from './forced-password-change.ts';
import { SignInForms } from './sign-in.ts';

export interface SignInPagesOptions {
  readonly issuer: () => string;
  readonly clients: Pick<ClientRegistry, 'get'>;
  readonly sessions: Pick<SessionStore, 'newID' | 'create'>;
  readonly credentials: CredentialStore;
  readonly keys: Pick<KeyRing, 'mac' | 'checkMac'>;
  readonly hints: Pick<IDTokenHints, 'read'>;
  readonly passwords: Pick<PasswordSignIn, 'check'>;
  readonly hasher: Pick<PasswordHasher, 'hash' | 'verify'>;
  readonly sourceOf: SourceAddress;
  readonly random: RandomBytes;
  /** Ms since the epoch. */
  readonly now: () => number;
}

/** Handlers by exact path. */
export function newSignInPages(options: SignInPagesOptions): ReadonlyMap<string, Handler> {
  const forms = new SignInForms({
    ...options,
    action: '/oauth/sign-in',
    passwordChange: new ForcedPasswordChange(options),
    continuation: codeContinuation({ ...options, codes: new CodeIssuer(options) }),
  });
  return new Map([
    ['/oauth/authorize', authorizeHandler(options, forms)],
    ['/oauth/sign-in', forms.handler],
    [STYLE_PATH, styleHandler()],
  ]);
}
