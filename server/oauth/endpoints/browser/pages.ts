// Creates the OAuth endpoints for browsers: authorization page, device page, sign-in forms and style sheet.
import type { Router } from 'express';
import { endpoint, newRouter } from '../../../http/endpoint.ts';
import type { ClientRegistry } from '../../clients/oauth-client.ts';
import { CodeIssuer } from '../../codes/authorization-code.ts';
import { DeviceRequests, type DeviceRequestsOptions } from '../../codes/device-requests.ts';
import { only } from '../../http/oauth-response.ts';
import { styleHandler } from '../../page/page.ts';
import type { IDTokenHints } from '../presented-tokens.ts';
import { authorizeHandler, codeContinuation } from './authorize.ts';
import { startAgain } from './browser-handler.ts';
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

/** The endpoints, relative to `/oauth`. */
export function newPages(options: PagesOptions): Router {
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
  const authorize = endpoint(authorizeHandler(options, signIn));
  const authorizeDevice = deviceAuthorizationHandler({ ...options, requests });
  const devicePage = devicePageHandler({ ...options, requests, throttle }, deviceSignIn);
  const router = newRouter();
  const readOrPost = startAgain('GET, HEAD, POST', options);
  router.route('/authorize').get(authorize).post(authorize).all(readOrPost);
  router.route('/sign-in').post(endpoint(signIn.handler)).all(startAgain('POST', options));
  router.route('/device_authorization').post(endpoint(authorizeDevice)).all(only('POST'));
  router.route('/device').get(endpoint(devicePage)).all(startAgain('GET, HEAD', options));
  router.route('/device/sign-in').post(endpoint(deviceSignIn.handler)).all(startAgain('POST', options));
  router.route('/page.css').get(endpoint(styleHandler())).all(only('GET, HEAD'));
  return router;
}
