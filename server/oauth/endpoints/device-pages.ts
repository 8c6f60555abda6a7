// Composition of the device flow: where devices ask, where people answer.
import type { Handler } from '../../filters/request-context.ts';
import type { ClientRegistry } from '../clients/oauth-client.ts';
import { CodeTries } from '../codes/code-tries.ts';
import { DeviceRequests, type DeviceRequestsOptions } from '../codes/device-requests.ts';
import { DEVICE_PATH, deviceAuthorizationHandler, deviceContinuation, devicePageHandler } from './device.ts';
import { ForcedPasswordChange } from './forced-password-change.ts';
import { SignInForms } from './sign-in.ts';
import type { SignInPagesOptions } from './sign-in-pages.ts';

export interface DevicePagesOptions extends Omit<SignInPagesOptions, 'sessions' | 'clients'> {
  readonly clients: ClientRegistry;
  readonly sessions: DeviceRequestsOptions['sessions'];
  /** Ms that never go back. */
  readonly monotonic: () => number;
}

/** Handlers by exact path. */
export function newDevicePages(options: DevicePagesOptions): ReadonlyMap<string, Handler> {
  const { issuer, clients, sessions, credentials, keys, passwords, hasher, source, random, now, monotonic } =
    options;
  const requests = new DeviceRequests({ sessions, random, now, monotonic });
  const action = `${DEVICE_PATH}/sign-in`;
  const forms = new SignInForms({
    action,
    issuer,
    keys,
    now,
    passwords,
    passwordChange: new ForcedPasswordChange({ credentials, hasher, now }),
    source,
    continuation: deviceContinuation({ clients, requests }),
  });
  const tries = new CodeTries({ now });
  return new Map([
    ['/oauth/device_authorization', deviceAuthorizationHandler({ issuer, clients, requests, source })],
    [DEVICE_PATH, devicePageHandler({ issuer, requests, tries, source }, forms)],
    [action, forms.handler],
  ]);
}
