// Creates the OAuth endpoints for browsers: authorization page, device page, sign-in forms and style sheet.
import type { Handler } from '../../../request/request-context.ts';
import type { ClientRegistry } from '../../clients/oauth-client.ts';
import { CodeIssuer } from '../../codes/authorization-code.ts';
import { DeviceRequests, type DeviceRequestsOptions } from '../../codes/device-requests.ts';
import { STYLE_PATH, styleHandler } from '../../page/page.ts';
import type { IDTokenHints } from '../presented-tokens.ts';
import { authorizeHandler, codeContinuation } from './authorize.ts';
import {
  DEVICE_PATH,
  deviceAuthorizationHandler,
  deviceContinuation,
  devicePageHandler,
  UserCodeThrottle,
} from './device.ts';
import { ForcedPasswordChange, type ForcedPasswordChangeOptions } from './forced-password-change.ts';
import { SignInForms, type SignInFormsOptions } from './sign-in.ts';

export interface PagesOptions
  extends Omit<SignInFormsOptions<unknown>, 'action' | 'passwordChange' | 'continuation'>,
    ForcedPasswordChangeOptions,
    DeviceRequestsOptions {
  readonly clients: ClientRegistry;
  readonly hints: Pick<IDTokenHints, 'read'>;
}

/** Handlers by exact path. */
export function newPages(options: PagesOptions): ReadonlyMap<string, Handler> {
  const passwordChange = new ForcedPasswordChange(options);
  const signIn = new SignInForms({
    ...options,
    action: '/oauth/sign-in',
    passwordChange,
    continuation: codeContinuation({ ...options, codes: new CodeIssuer(options) }),
  });
  const requests = new DeviceRequests(options);
  const deviceSignIn = new SignInForms({
    ...options,
    action: `${DEVICE_PATH}/sign-in`,
    passwordChange,
    continuation: deviceContinuation({ ...options, requests }),
  });
  const throttle = new UserCodeThrottle(options.monotonic);
  return new Map([
    ['/oauth/authorize', authorizeHandler(options, signIn)],
    ['/oauth/sign-in', signIn.handler],
    ['/oauth/device_authorization', deviceAuthorizationHandler({ ...options, requests })],
    [DEVICE_PATH, devicePageHandler({ ...options, requests, throttle }, deviceSignIn)],
    [`${DEVICE_PATH}/sign-in`, deviceSignIn.handler],
    [STYLE_PATH, styleHandler()],
  ]);
}
