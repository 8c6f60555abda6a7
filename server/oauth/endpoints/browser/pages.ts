// Creates the OAuth endpoints for browsers: authorization page, device page, sign-in forms and style sheet.
import type { Router } from 'express';
import { endpoint, newRouter } from '../../../http/endpoint.ts';
import type { Handler } from '../../../request/request-context.ts';
import type { ClientRegistry } from '../../clients/oauth-client.ts';
import { CodeIssuer } from '../../codes/authorization-code.ts';
import { DeviceRequests, type DeviceRequestsOptions } from '../../codes/device-requests.ts';
import { only } from '../../http/oauth-response.ts';
import { styleHandler } from '../../page/page.ts';
import type { IDTokenHints } from '../presented-tokens.ts';
import { AccountChoice } from './account-choice.ts';
import { authorizeHandler, codeContinuation } from './authorize.ts';
import { startAgain } from './browser-handler.ts';
import type { BrowserSessions } from './browser-sessions.ts';
import {
  deviceAuthorizationHandler,
  deviceContinuation,
  devicePageHandler,
  UserCodeThrottle,
} from './device.ts';
import { ForcedPasswordChange, type ForcedPasswordChangeOptions } from './forced-password-change.ts';
import { type Continuation, SignInForms, type SignInFormsOptions } from './sign-in.ts';

export interface PagesOptions
  extends Omit<SignInFormsOptions<unknown>, 'action' | 'passwordChange' | 'continuation' | 'browsers'>,
    ForcedPasswordChangeOptions,
    DeviceRequestsOptions {
  readonly browsers: BrowserSessions;
  readonly clients: ClientRegistry;
  readonly hints: Pick<IDTokenHints, 'read'>;
}

/** The endpoints, relative to `/oauth`. */
export function newPages(options: PagesOptions): Router {
  const passwordChange = new ForcedPasswordChange(options);
  const { browsers } = options;
  const requests = new DeviceRequests(options);
  const router = newRouter();
  const post = (path: string, { handler }: { readonly handler: Handler }): void => {
    router.route(path).post(endpoint(handler)).all(startAgain('POST', options));
  };
  /** The forms for requests of one kind. */
  const formsFor = <T>(path: string, continuation: Continuation<T>) => {
    const shared = { ...options, browsers, passwordChange, continuation };
    const forms = new SignInForms({ ...shared, action: `/oauth${path}/sign-in` });
    const choice = new AccountChoice({ ...shared, forms, action: `/oauth${path}/account` });
    post(`${path}/sign-in`, forms);
    post(`${path}/account`, choice);
    return { browsers, forms, choice };
  };
  const codes = formsFor('', codeContinuation({ ...options, codes: new CodeIssuer(options) }));
  const devices = formsFor('/device', deviceContinuation({ ...options, requests }));
  const throttle = new UserCodeThrottle(options.monotonic);
  const authorize = endpoint(authorizeHandler({ ...options, ...codes }));
  const authorizeDevice = deviceAuthorizationHandler({ ...options, requests });
  const devicePage = devicePageHandler({ ...options, ...devices, requests, throttle });
  router.route('/authorize').get(authorize).post(authorize).all(startAgain('GET, HEAD, POST', options));
  router.route('/device_authorization').post(endpoint(authorizeDevice)).all(only('POST'));
  router.route('/device').get(endpoint(devicePage)).all(startAgain('GET, HEAD', options));
  router.route('/page.css').get(endpoint(styleHandler())).all(only('GET, HEAD'));
  return router;
}
