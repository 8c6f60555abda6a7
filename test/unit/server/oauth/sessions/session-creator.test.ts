// Tests of the creation of sessions at sign-in.
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import type { KeyRing } from '../../../../../server/oauth/keys/key-ring.ts';
import { byPassword } from '../../../../../server/oauth/sessions/proof.ts';
import { NO_CLIENT } from '../../../../../server/oauth/sessions/session.ts';
import {
  newRefreshToken,
  parseRefreshToken,
  SessionCreator,
  type SignIn,
  successors,
} from '../../../../../server/oauth/sessions/session-creator.ts';
import { newSessionID } from '../../../../../server/oauth/sessions/session-object.ts';
import { memoryKeyRing } from '../../../../support/oauth/memory-key-ring.ts';
import { MemorySessionStore, MemorySessions } from '../../../../support/oauth/memory-session-store.ts';
import { newAccount } from '../../../../support/oauth/new-account.ts';
import { newClient } from '../../../../support/oauth/oauth-clients.ts';
import { log, passwordSince } from '../../../../support/oauth/signed-in.ts';

const NOW = Date.parse('2026-11-21T12:00:00Z');
const signal = new AbortController().signal;

describe('SessionCreator', () => {
  let shared: MemorySessions;
  let sessions: MemorySessionStore;
  let now: number;
  let opening: SessionCreator;

  beforeEach(() => {
    now = NOW;
    shared = new MemorySessions();
    sessions = new MemorySessionStore(shared, () => now);
    const options = { sessions, sessionsPerUser: 3, random: randomBytes, now: () => now, log };
    opening = new SessionCreator(options);
  });

  function signIn(changes: Partial<SignIn> = {}): SignIn {
    return {
      account: newAccount('alice'),
      authentication: byPassword(passwordSince(NOW - 86_400_000), NOW),
      client: newClient('console', { refreshIdleLifetime: 10_000, sessionLifetime: 100_000 }),
      scopes: ['openid'],
      source: '192.0.2.7',
      userAgent: 'curl/8.5',
      ...changes,
    };
  }
  async function open(changes?: Partial<SignIn>) {
    const { session, refreshToken } = opening.prepare(signIn(changes));
    return { session: await opening.store(session, signal), refreshToken };
  }

  it("has an idle expiry between the access token's and the absolute expiry", async () => {
    const short = { refreshIdleLifetime: 60, accessTokenLifetime: 600 };
    const { session } = await open({ client: newClient('a', { ...short, sessionLifetime: 3600 }) });
    expect(session.idleNotAfter).to.equal(NOW + 600_000);
    const long = await open({ client: newClient('b', { refreshIdleLifetime: 7200, sessionLifetime: 3600 }) });
    expect(long.session.idleNotAfter).to.equal(NOW + 3_600_000);
  });

  it('sanitizes and bounds client input', async () => {
    const { session } = await open({
      source: `::1\u001b[2J${'x'.repeat(300)}`,
      userAgent: `evil\u001b]0;owned\u0007\r\n\u202eabc${'y'.repeat(1000)}`,
    });
    expect(session.source).to.match(/^::1\?\[2Jx+$/);
    expect(session.source.length).to.be.at.most(64);
    expect(session.userAgent).to.match(/^evil\?\]0;owned\?\?\?\?abcy+$/);
    expect(session.userAgent.length).to.be.at.most(256);
  });

  it('deletes the least recently used session at the limit', async () => {
    const ids: string[] = [];
    for (let i = 0; i < 3; i++) {
      now += 1000;
      ids.push((await open()).session.id);
    }
    const [first, second, third] = ids.map((id) => shared.objects.get(id));
    if (!first || !second || !third) throw new Error('not kept');
    await sessions.replace({ ...first, lastUsedAt: now + 500 });
    now += 1000;
    const { session } = await open();
    expect([...shared.objects.keys()].toSorted()).to.deep.equal([first.id, third.id, session.id].toSorted());
    await open({ account: { ...signIn().account, name: 'bob' } });
    expect(shared.objects.size).to.equal(4);
  });

  it('deletes no browser session before the sessions that began with it, and not that of the new session', async () => {
    const browserSession = async () => {
      const { session } = opening.prepare(signIn());
      return sessions.create({ ...session, clientID: NO_CLIENT });
    };
    const used = await browserSession();
    const begin = async (browser: string) => {
      now += 1000;
      return opening.store({ ...opening.prepare(signIn()).session, browser }, signal);
    };
    const [first, second] = [await begin(used.id), await begin(used.id)];
    now += 1000;
    const third = (await open()).session;
    expect(shared.objects.has(first.id)).to.equal(false);
    expect([...shared.objects.keys()]).to.have.members([used.id, second.id, third.id]);
    const newest = await browserSession();
    await sessions.replace({ ...newest, lastUsedAt: 0 });
    const fourth = await begin(newest.id);
    expect([...shared.objects.keys()]).to.have.members([newest.id, third.id, fourth.id]);
  });
});

describe('a refresh token', () => {
  it('has exactly one valid spelling', () => {
    const { text } = newRefreshToken(newSessionID(randomBytes), randomBytes);
    const wrong = [`${text}=`, `${text}A`, text.slice(0, -1), ` ${text}`, `${text}\n`, text.toUpperCase()];
    for (const other of [...wrong, text.replace('prt_', 'PRT_'), 'prt__', '']) {
      expect(parseRefreshToken(other), JSON.stringify(other)).to.equal(undefined);
    }
  });

  it('determines its successor, also after a rotation of the keys, but only with the keys', async () => {
    const [old, rotated, foreign] = await Promise.all([memoryKeyRing(), memoryKeyRing(), memoryKeyRing()]);
    const both: Pick<KeyRing, 'macs'> = {
      macs: (purpose, message) => [rotated.macs(purpose, message)[0], ...old.macs(purpose, message)],
    };
    const token = newRefreshToken(newSessionID(randomBytes), randomBytes);
    const [next] = successors(token, old);
    expect(parseRefreshToken(next.text)).to.deep.equal(next);
    expect(next).to.include({ familyHash: token.familyHash, sessionID: token.sessionID });
    expect(successors(token, both)[0]).to.not.deep.equal(next);
    expect(successors(token, both)).to.deep.include(next);
    expect(successors(token, foreign)).to.not.deep.include(next);
    expect(successors(next, old)).to.not.deep.include(next);
  });
});
