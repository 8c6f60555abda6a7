// Tests of open device authorization requests.
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { DeviceRequests } from '../../../../../server/oauth/codes/device-requests.ts';
import { byPassword } from '../../../../../server/oauth/sessions/proof.ts';
import { MemorySessionStore, MemorySessions } from '../../../../support/oauth/memory-session-store.ts';
import { newAccount } from '../../../../support/oauth/new-account.ts';
import { newSession } from '../../../../support/oauth/new-session.ts';
import { newClient } from '../../../../support/oauth/oauth-clients.ts';
import { rejection } from '../../../../support/rejection.ts';

describe('device requests', () => {
  const signal = new AbortController().signal;
  const client = newClient('cli');
  let now: number;
  let sessions: MemorySessionStore;
  let requests: DeviceRequests;
  beforeEach(() => {
    now = Date.now();
    sessions = new MemorySessionStore(new MemorySessions(), () => now);
    requests = new DeviceRequests({
      sessions,
      random: randomBytes,
      now: () => now,
      monotonic: () => now,
    });
  });

  const open = (source: string, at = requests) => at.open(client, [], { source, userAgent: '' }, signal);

  async function refused(source: string): Promise<void> {
    expect(await rejection(open(source))).to.include({ status: 503, retryAfterSeconds: 30 });
  }

  it('are limited per site of IPv4 /24 or IPv6 /48, until they expire', async () => {
    for (const [site, other] of [
      ['2001:db8:0:', '2001:db8:1::1'],
      ['192.0.2.', '198.51.100.1'],
    ] as const) {
      const address = (i: number): string => (site.endsWith(':') ? `${site}${i}::1` : `${site}${i}`);
      for (let request = 0; request < 20; request++) {
        now += 1000;
        await open(address(request));
      }
      now += 1000;
      await refused(address(99));
      await open(other);
      now += 600_000;
      await open(address(99));
    }
  });

  it('are limited in the rate of writes', async () => {
    for (let request = 0; request < 20; request++) await open(`192.0.${request}.1`);
    await refused('198.51.100.1');
    now += 200;
    await open('198.51.100.1');
  });

  it('are limited in total', async () => {
    for (let request = 0; request < 200; request++) {
      now += 200;
      await open(`192.0.${request % 100}.1`);
    }
    now += 200;
    await refused('198.51.100.1');
  });

  it('use another code when the object name exists', async () => {
    const codes = [0, 0, 1];
    const same = new DeviceRequests({
      sessions,
      random: (count) => (count === 8 ? Buffer.alloc(8, codes.shift()) : randomBytes(count)),
      now: () => now,
      monotonic: () => now,
    });
    expect((await open('', same)).userCode).to.equal('BBBB-BBBB');
    expect((await open('', same)).userCode).to.equal('CCCC-CCCC');
  });

  it('never refer to the session of a user', async () => {
    const { id } = await sessions.create(newSession());
    expect(requests.find(id)).to.equal(undefined);
    const session = 's-aaaaaaaaaaaaaaaaaaaa';
    const request = { id, session, clientID: 'cli', scopes: [], source: '', userAgent: '' };
    const authentication = byPassword({ uid: 'p', changedAt: 0 }, 0);
    const browser = { id, generation: 0 };
    const by = { account: newAccount('mallory'), authentication, browser };
    expect(await requests.approve(request, by, { signal })).to.equal('not found');
    expect(await requests.approve({ ...request, session: id }, by, { signal })).to.equal('not found');
    expect(requests.isOpenOrApproved(request)).to.equal(false);
    await requests.deny(request, { signal });
    expect(sessions.get(id)?.user).to.equal('alice');
  });
});
