// Tests of the polling of the device flow (RFC 8628, 3.5).
import { expect } from 'chai';
import { EndpointError } from '../../../login/authorization-server.ts';
import { signInOnDevice } from '../../../login/device-flow.ts';
import { rejection } from '../../support/rejection.ts';

const ISSUER = 'https://api.example.com/oauth';
const CLAIMS = Buffer.from(JSON.stringify({ iss: ISSUER, aud: 'kubectl', sub: 'alice' })).toString(
  'base64url',
);
const TOKENS = { access_token: 'a', expires_in: 100, id_token: `e30.${CLAIMS}.c2ln` };

/** Signs in at a server that responds to the polls with these error codes, then with tokens. */
function signIn(codes: readonly string[], device: object = {}) {
  const waits: number[] = [];
  const lines: string[] = [];
  const left = [...codes];
  const result = signInOnDevice({
    clientID: 'kubectl',
    print: (line) => void lines.push(line),
    wait: (milliseconds) => Promise.resolve(waits.push(milliseconds)),
    server: {
      issuer: ISSUER,
      post: (endpoint) => {
        if (endpoint === 'device_authorization_endpoint') {
          const response = { device_code: 'd', user_code: 'BCDF-GHJK', verification_uri: `${ISSUER}/device` };
          return Promise.resolve({ ...response, expires_in: 600, interval: 2, ...device });
        }
        const code = left.shift();
        return code === undefined
          ? Promise.resolve(TOKENS)
          : Promise.reject(new EndpointError(400, code, code));
      },
    },
  });
  return { result, waits, lines };
}

describe('the sign-in on another device', () => {
  it('polls less often after slow_down, and every five seconds by default', async () => {
    const { result, waits } = signIn(['slow_down', 'slow_down'], { interval: undefined });
    await result;
    expect(waits).to.deep.equal([5000, 10_000, 15_000]);
  });

  it('fails with the cure when the user refuses or the code expires, and with other errors', async () => {
    expect((await rejection(signIn(['access_denied']).result)).message).to.contain('was refused');
    expect((await rejection(signIn(['expired_token']).result)).message).to.contain(
      'try again for a new code',
    );
    expect((await rejection(signIn(['unauthorized_client']).result)).message).to.equal('unauthorized_client');
    const pending = Array.from({ length: 10 }, () => 'authorization_pending');
    expect((await rejection(signIn(pending, { expires_in: 4 }).result)).message).to.contain('expired');
  });
});
