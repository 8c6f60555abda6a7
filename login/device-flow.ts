// Device authorization flow (RFC 8628): the user signs in on another device with a short code.
import { setTimeout as delay } from 'node:timers/promises';
import { text } from '../apis/reading/unknown-value.ts';
import { type AuthorizationServer, EndpointError } from './authorization-server.ts';
import { LoginError } from './login-error.ts';
import { SCOPE, type SignIn, signInOf } from './tokens.ts';

export interface DeviceFlowOptions {
  readonly server: Pick<AuthorizationServer, 'issuer' | 'post'>;
  readonly clientID: string;
  /** Prints a line for the user. */
  readonly print: (line: string) => void;
  readonly wait?: (milliseconds: number) => Promise<unknown>;
}

const GRANT = 'urn:ietf:params:oauth:grant-type:device_code';
/** RFC 8628, 3.2 and 3.5. */
const DEFAULT_INTERVAL_S = 5;
const SLOW_DOWN_S = 5;

export async function signInOnDevice(options: DeviceFlowOptions): Promise<SignIn> {
  const { server, clientID, print, wait = delay } = options;
  const device = await server.post('device_authorization_endpoint', { client_id: clientID, scope: SCOPE });
  const form = { grant_type: GRANT, device_code: text(device['device_code']), client_id: clientID };
  const lifetime = seconds(device['expires_in'], 0);
  print(
    `Visit this page on any device, and enter the code ${text(device['user_code'])}:\n\n  ${text(device['verification_uri'])}\n`,
  );
  print(`Waiting for the sign-in, for ${Math.round(lifetime / 60)} minutes ...`);
  let interval = seconds(device['interval'], DEFAULT_INTERVAL_S);
  for (let waited = 0; waited < lifetime; ) {
    await wait(interval * 1000);
    waited += interval;
    try {
      const response = await server.post('token_endpoint', form);
      return signInOf(response, { issuer: server.issuer, clientID, now: Date.now() });
    } catch (error) {
      const code = error instanceof EndpointError ? error.code : undefined;
      if (code === 'slow_down') interval += SLOW_DOWN_S;
      else if (code !== 'authorization_pending' && code !== 'temporarily_unavailable')
        throw explained(error, code);
    }
  }
  throw expired();
}

function explained(error: unknown, code: string | undefined): unknown {
  if (code === 'access_denied') return new LoginError('the sign-in was refused on the other device');
  return code === 'expired_token' ? expired() : error;
}

function expired(): LoginError {
  return new LoginError('the code has expired: try again for a new code');
}

function seconds(value: unknown, otherwise: number): number {
  return typeof value === 'number' && value > 0 ? value : otherwise;
}
