// Tests of the gateway at a kube-apiserver that does not trust the issuer of the server.
import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { record, text } from '../../../apis/reading/unknown-value.ts';
import { until } from '../../support/until.ts';
import { wholeLines } from '../../support/whole-lines.ts';
import type { FallbackPlatform } from './fallback-platform.ts';
import { sharedFallback } from './shared-fallback.ts';

const CURE =
  /^kube-apiserver rejects the tokens of https:\S+\/oauth: add this issuer to the file of --authentication-config of kube-apiserver \(docs\/authentication-configuration\.md\), or set gateway\.impersonation to "all"$/;

/** All states of the check. */
const STATE =
  /^(?:kube-apiserver (?:accepts|rejects)|it is unknown whether kube-apiserver accepts) the tokens of /;

const TRUSTED = 'gateway_tokens_trusted';

describe('an issuer that kube-apiserver does not trust', () => {
  let platform: FallbackPlatform;
  let token: string;

  before(async () => {
    platform = await sharedFallback();
    token = await platform.signIn(platform.passthrough, 'grace', ['readers']);
  });
  after(() => platform.platform.trust());

  it('is named with the cure: in the readiness check, in a 503, in the log once, and in a metric', async () => {
    const { status, user } = await platform.whoAmI(platform.passthrough, { token });
    expect(status).to.equal(503);
    expect(user).to.match(CURE);
    // The server returns 503 instead of the 401 of kube-apiserver, because the caller cannot correct it.
    expect((await platform.whoAmI(platform.controlPlane, { token })).status).to.equal(401);
    expect(await platform.readiness(platform.passthrough)).to.match(CURE);
    expect(await platform.gateway.metric(TRUSTED)).to.equal(0);
    await until(async () => (await logged(platform, CURE)).length > 0);
    // A check without a response is a change too, after which the cause is named again.
    const states = await logged(platform, STATE);
    expect(states.filter((state, index) => state === states[index - 1])).to.deep.equal([]);
  });

  it('is reported by kubectl at once', async () => {
    const flags = platform.platform.flags(token, platform.passthrough.url);
    const { code, stderr } = await platform.platform.kubectl(...flags, 'auth', 'whoami');
    expect(code).to.equal(1);
    expect(stderr).to.match(
      /^Error from server \(ServiceUnavailable\): kube-apiserver rejects the tokens of /m,
    );
    const { body } = await platform.send(platform.passthrough, 'GET /api/v1/pods', { token });
    expect(body.toString('utf8')).not.to.include('retryAfterSeconds');
  });

  it('is reported to streams', async () => {
    const upgrade = ['Connection: Upgrade', 'Upgrade: SPDY/3.1'];
    for (const [line, headers] of [
      ['GET /api/v1/namespaces/default/pods/any/log?follow=true', []],
      ['POST /api/v1/namespaces/default/pods/any/exec?command=sh', upgrade],
      ['POST /api/v1/namespaces/default/pods/any/portforward', upgrade],
    ] as const) {
      const { body } = await platform.send(platform.passthrough, line, { token, headers });
      expect(text(record(JSON.parse(body.toString('utf8')))['message']), line).to.match(CURE);
    }
  });

  it('does not change the rejection of other tokens', async () => {
    const { status, user } = await platform.whoAmI(platform.passthrough, { token: `${token}x` });
    expect({ status, user }).to.deep.equal({ status: 401, user: 'Unauthorized' });
    const serviceAccount = await platform.gateway.serviceAccountToken('default', 'default');
    expect(await platform.whoAmI(platform.passthrough, { token: serviceAccount })).to.deep.equal(
      await platform.whoAmI(platform.controlPlane, { token: serviceAccount }),
    );
  });
});

/** Run it after the tests above and others, because kube-apiserver reads the keys of a new issuer only every ten seconds. */
describe('the recovery without a restart', () => {
  it('forwards tokens once kube-apiserver trusts their issuer', async () => {
    const platform = await sharedFallback();
    const { controlPlane, passthrough } = platform;
    const token = await platform.signIn(passthrough, 'heidi', ['readers']);
    await until(async () => (await platform.whoAmI(controlPlane, { token })).status === 201);
    expect(await platform.whoAmI(passthrough, { token })).to.deep.equal(
      await platform.whoAmI(controlPlane, { token }),
    );
    const accepted = `kube-apiserver accepts the tokens of ${passthrough.url}/oauth`;
    await until(async () => (await platform.readiness(platform.passthrough)) === accepted);
    expect(await platform.gateway.metric(TRUSTED)).to.equal(1);
    await until(async () => (await logged(platform, new RegExp(`^${accepted}$`))).length > 0);
    expect(await logged(platform, CURE)).to.not.have.length(0);
  });

  it('impersonates with a recreated ServiceAccount', async () => {
    const platform = await sharedFallback();
    const pair = await platform.certificateOf('ivan');
    const status = async (): Promise<number> =>
      (await platform.whoAmI(platform.impersonating, { pair })).status;
    // kube-apiserver caches accepted tokens for ten seconds.
    await until(async () => (await status()) === 503);
    await platform.install('gateway-constrained-impersonation');
    await until(async () => (await status()) === 201);
  });
});

/** The log lines with this message. */
async function logged({ passthrough }: FallbackPlatform, message: RegExp): Promise<string[]> {
  const lines = wholeLines(await readFile(passthrough.logFile, 'utf8'));
  return lines.map((line) => text(record(JSON.parse(line))['message'])).filter((line) => message.test(line));
}
