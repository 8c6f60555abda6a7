// Composition of the device flow: where devices ask, where people answer.
import type { Handler } from '../../../request/request-context.ts';
import type { ClientRegistry } from '../../clients/oauth-client.ts';
import { CodeTries } from '../../codes/code-tries.ts';
import { DeviceRequests, type DeviceRequestsOptions } from '../../codes/device-requests.ts';
import { DEVICE_PATH, deviceAuthorizationHandler, deviceContinuation, devicePageHandler } from './device.ts';
import { ForcedPasswordChange } from './forced-password-change.ts';
import { SignInForms } from './sign-in.ts';
import type { SignInPagesOptions } from './sign-in-pages.ts';

export interface DevicePagesOptions extends Omit<SignInPagesOptions, 'sessions' | 'clients' | 'hints'> {
  readonly clients: ClientRegistry;
  readonly sessions: DeviceRequestsOptions['sessions'];
  /** Ms that never go back. */
  readonly monotonic: () => number;
}

/** Handlers by exact path. */
export function newDevicePages(options: DevicePagesOptions): ReadonlyMap<string, Handler> {
  const requests = new DeviceRequests(options);
  const action = `${DEVICE_PATH}/sign-in`;
  const forms = new SignInForms({
    ...options,
    action,
    passwordChange: new ForcedPasswordChange(options),
    continuation: deviceContinuation({ ...options, requests }),
  });
  const tries = new CodeTries(options);
  return new Map([
    ['/oauth/device_authorization', deviceAuthorizationHandler({ ...options, requests })],
    [DEVICE_PATH, devicePageHandler({ ...options, requests, tries }, forms)],
    [action, forms.handler],
  ]);
}
