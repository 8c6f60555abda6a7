// Tests of faults of the machine of a replica: its clock, and the disk under its log.
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { record } from '../../../apis/reading/unknown-value.ts';
import { fault } from '../../support/faults.ts';
import { until } from '../../support/until.ts';
import { PASSWORD } from '../platform.ts';
import { type FaultPlatform, NODES, WORKING } from './fault-platform.ts';

export function describeMachineFaults(subject: () => FaultPlatform): void {
  fault('the clock of one replica is 30 s ahead', async () => {
    const { ahead, main, platform } = subject();
    const password = { grant_type: 'password', username: 'alice', password: PASSWORD };
    for (const [one, other] of [
      [ahead, main],
      [main, ahead],
    ] as const) {
      const first = await one.grant(password);
      const aheadMs = issuedAt(first.access) - Date.now();
      expect(aheadMs > 15_000).to.equal(one === ahead);
      expect(await other.status('/oauth/userinfo', first.access)).to.equal(200);
      const second = await other.grant({ grant_type: 'refresh_token', refresh_token: first.refresh });
      expect(second.status).to.equal(200);
      expect(await one.status('/oauth/userinfo', second.access)).to.equal(200);
      // kube-apiserver fetches the keys of the issuer within ten seconds.
      const whoami = [...platform.flags(second.access), 'auth', 'whoami'];
      await until(async () => (await platform.kubectl(...whoami)).code === 0);
      await one.grant({ token: second.refresh }, '/oauth/revoke');
      await until(async () => (await other.status('/oauth/userinfo', second.access)) === 401);
    }
    expect(await ahead.statuses()).to.deep.equal(WORKING);
  });

  fault('the disk under the log is full', async (recovers) => {
    const { ahead } = subject();
    const { pid, logFile } = ahead.server;
    // Writes to files fail from now on.
    const limit = (bytes: string) => promisify(execFile)('prlimit', [`--pid=${pid}`, `--fsize=${bytes}:`]);
    const lines = async (): Promise<string> => readFile(logFile, 'utf8');
    // The log contains each rejected request.
    const rejected = (): Promise<number> => ahead.status(NODES, 'invalid');
    await limit('0');
    const before = await lines();
    for (let i = 0; i < 50; i++) expect(await rejected()).to.equal(401);
    expect(await ahead.statuses()).to.deep.equal(WORKING);
    expect(await lines()).to.equal(before);
    await limit('unlimited');
    await recovers(async () => {
      await rejected();
      return (await lines()).includes('log lines dropped: standard output was not writable');
    });
  });
}

/** `iat` of a token, in ms. */
function issuedAt(token: string): number {
  const payload = Buffer.from(token.split('.')[1] ?? '', 'base64url').toString();
  return 1000 * Number(record(JSON.parse(payload))['iat']);
}
