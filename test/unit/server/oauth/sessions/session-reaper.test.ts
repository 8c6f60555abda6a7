// Tests of the garbage collection of invalid Session objects.
import { expect } from 'chai';
import {
  newConflict,
  newForbidden,
  newServiceUnavailable,
  newTimeout,
  newTooManyRequests,
} from '../../../../../apis/meta/v1/errors.ts';
import { NO_USER, type ObjectVersion, type Session } from '../../../../../server/oauth/sessions/session.ts';
import { passwordOf } from '../../../../../server/oauth/sessions/session-creator.ts';
import type { FoundSession } from '../../../../../server/oauth/sessions/session-object.ts';
import { SessionReaper } from '../../../../../server/oauth/sessions/session-reaper.ts';
import type { Account, Credential } from '../../../../../server/oauth/users/account.ts';
import { newAccount } from '../../../../support/oauth/new-account.ts';
import { newSession } from '../../../../support/oauth/new-session.ts';
import { passwordSince } from '../../../../support/oauth/signed-in.ts';
import { rejection } from '../../../../support/rejection.ts';

const NOW = Date.parse('2026-11-21T12:00:00Z');
const DAY = 86_400_000;
const signal = new AbortController().signal;

const ALICE = newAccount('alice');

describe('the session reaper', () => {
  let now: number;
  let objects: Map<string, FoundSession & { genuine: boolean }>;
  let account: Account | undefined;
  let credential: Credential | undefined;
  let stands: { fresh: boolean; users: boolean; passwords: boolean };
  let removing: (name: string, exactly: ObjectVersion | undefined) => void;
  let reasons: string[];
  let reaper: SessionReaper;

  beforeEach(() => {
    now = NOW;
    objects = new Map();
    account = ALICE;
    credential = passwordSince(NOW - DAY);
    stands = { fresh: true, users: true, passwords: true };
    removing = (name) => objects.delete(name);
    reasons = [];
    reaper = new SessionReaper({
      sessions: {
        get fresh() {
          return stands.fresh;
        },
        all: () => objects.values(),
        isGenuine: (found) => objects.get(found.name)?.genuine ?? false,
        remove: (name, _signal, exactly) => {
          removing(name, exactly);
          return Promise.resolve();
        },
      },
      users: {
        get synced() {
          return stands.users;
        },
        get: () => account,
      },
      credentials: {
        get synced() {
          return stands.passwords;
        },
        get: () => credential,
      },
      now: () => now,
      log: {
        debug: () => undefined,
        info: () => undefined,
        warn: () => undefined,
      },
      removed: (reason) => reasons.push(reason),
    });
  });

  function add(changes: Partial<Session> = {}, genuine = true): string {
    const createdAt = NOW - 60_000;
    const times = { createdAt, lastUsedAt: createdAt, notAfter: NOW + DAY, idleNotAfter: NOW + DAY };
    const session = newSession({ ...times, ...changes });
    const version = { uid: `uid-${session.id}`, resourceVersion: '1' };
    objects.set(session.id, {
      ...version,
      name: session.id,
      creationTime: session.createdAt,
      session: { ...session, ...version },
      mac: '',
      genuine,
    });
    return session.id;
  }

  it('keeps open device requests until they expire', async () => {
    account = undefined;
    add({ user: NO_USER });
    expect(await reaper.sweep(signal)).to.equal(0);
    now = NOW + DAY;
    expect(await reaper.sweep(signal)).to.equal(1);
  });

  it('deletes expired sessions with a precondition on the version', async () => {
    const expired = [add({ notAfter: NOW }), add({ idleNotAfter: NOW })];
    const live = add();
    const versions: (ObjectVersion | undefined)[] = [];
    removing = (name, exactly) => {
      versions.push(exactly);
      objects.delete(name);
    };
    expect(await reaper.sweep(signal)).to.equal(2);
    expect([...objects.keys()]).to.deep.equal([live]);
    expect(versions.map((version) => version?.uid)).to.deep.equal(expired.map((id) => `uid-${id}`));
    expect(reasons).to.deep.equal(['expired', 'expired']);
  });

  for (const [reason, change] of [
    ['user deleted', () => (account = undefined)],
    ['user recreated', () => (account = { ...ALICE, uid: 'another' })],
    ['user disabled', () => (account = { ...ALICE, disabled: true })],
    ['password changed', () => (credential = passwordSince(NOW - 59_999))],
    ['password deleted', () => (credential = undefined)],
    ['password recreated', () => (credential = { ...passwordSince(NOW - DAY), uid: 'another' })],
  ] as const) {
    it(`deletes sessions for the reason: ${reason}`, async () => {
      add(passwordOf(passwordSince(NOW - DAY)));
      change();
      expect(await reaper.sweep(signal)).to.equal(1);
      expect(reasons).to.deep.equal([reason]);
    });
  }

  it('does not check the user of a new session, because the cache may lag', async () => {
    add({ createdAt: NOW - 1_000 });
    account = undefined;
    expect(await reaper.sweep(signal)).to.equal(0);
    now += 5_000;
    expect(await reaper.sweep(signal)).to.equal(1);
  });

  it('deletes nothing while a cache is stale', async () => {
    add({ notAfter: NOW });
    for (const unseen of ['fresh', 'users', 'passwords'] as const) {
      stands = { fresh: true, users: true, passwords: true, [unseen]: false };
      expect(await reaper.sweep(signal), unseen).to.equal(0);
    }
  });

  it('deletes sessions with an invalid MAC after a day only', async () => {
    add({ notAfter: NOW }, false);
    expect(await reaper.sweep(signal)).to.equal(0);
    now += DAY;
    expect(await reaper.sweep(signal)).to.equal(1);
    expect(reasons).to.deep.equal(['invalid']);
  });

  it('continues after a conflict and a rejected deletion, and reports the latter', async () => {
    const [kept, changed] = [add({ notAfter: NOW }), add({ notAfter: NOW })];
    add({ notAfter: NOW });
    removing = (name) => {
      if (name === kept) throw newForbidden(undefined, name, 'a webhook denied it');
      if (name === changed)
        throw newConflict({ group: 'iam.platform.io', resource: 'sessions' }, name, 'changed');
      objects.delete(name);
    };
    expect(await rejection(reaper.sweep(signal))).to.have.property('reason', 'Forbidden');
    expect([...objects.keys()]).to.deep.equal([kept, changed]);
    expect(reasons).to.deep.equal(['expired']);
  });

  for (const error of [
    new Error('the cluster is unavailable'),
    newServiceUnavailable('no leader', 1),
    newTooManyRequests('wait', 1),
    newTimeout('too slow', 1),
  ]) {
    it(`stops when the cluster is unavailable, and reports it: ${error.message}`, async () => {
      const all = [add({ notAfter: NOW }), add({ notAfter: NOW })];
      let attempts = 0;
      removing = () => {
        attempts++;
        throw error;
      };
      expect(await rejection(reaper.sweep(signal))).to.equal(error);
      expect([attempts, ...objects.keys()]).to.deep.equal([1, ...all]);
      expect(reasons).to.deep.equal([]);
    });
  }
});
