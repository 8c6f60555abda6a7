// Conformance tests of session stores.
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { StatusError } from '../../apis/meta/v1/errors.ts';
import { byPassword } from '../../server/oauth/sessions/proof.ts';
import type { SessionStore, StoredSession } from '../../server/oauth/sessions/session.ts';
import { newSessionID } from '../../server/oauth/sessions/session-object.ts';
import { newSession } from '../support/oauth/new-session.ts';
import { until } from '../support/until.ts';

interface ReplicasUnderTest {
  /** Two stores of the same sessions. */
  readonly stores: readonly [SessionStore, SessionStore];
}

/** The contract of SessionStore on which grants, verification and revocation rely. */
export function describeSessionStore(title: string, open: () => ReplicasUnderTest): void {
  describe(`${title}, as a session store`, () => {
    const signal = new AbortController().signal;

    async function stored(changes: Parameters<typeof newSession>[0] = {}): Promise<StoredSession> {
      const [store] = open().stores;
      return store.create(newSession({ id: store.newID(randomBytes), ...changes }), signal);
    }

    async function refusal(promise: Promise<unknown>): Promise<string> {
      const error = await promise.then(
        () => undefined,
        (caught: unknown) => caught,
      );
      return error instanceof StatusError ? error.reason : `no StatusError: ${String(error)}`;
    }

    it('returns a created session at once, with its version', async () => {
      const [store] = open().stores;
      const session = newSession({
        id: store.newID(randomBytes),
        scopes: ['openid', 'groups'],
        userAgent: 'kubectl/v1.36',
        authentication: {
          ...byPassword(
            { uid: 'uid-of-her-password', changedAt: Date.now() - 86_400_000 },
            Date.now() - 1000,
          ),
          amr: ['pwd', 'otp', 'mfa'],
          acr: '1fa',
        },
        browser: 's-aaaaaaaaaaaaaaaaaaaa',
        claims: { userinfo: ['name', 'email'], idToken: ['groups'] },
      });
      const created = await store.create(session, signal);
      expect(created).to.deep.include(session);
      expect(created.uid).to.not.equal('');
      expect(created.resourceVersion).to.not.equal('');
      expect(store.get(session.id)).to.deep.equal(created);
      expect(await store.read(session.id, { signal })).to.deep.equal(created);
    });

    it('stores a session without scopes and refresh token', async () => {
      const session = newSession({ scopes: [], userAgent: '', source: '', refreshHash: '', familyHash: '' });
      expect(await open().stores[0].create(session, signal)).to.deep.include(session);
    });

    it('rejects a duplicate id', async () => {
      const { id } = await stored();
      expect(await refusal(open().stores[1].create(newSession({ id }), signal))).to.equal('AlreadyExists');
    });

    it('finds nothing for an unknown or malformed id', async () => {
      const [store] = open().stores;
      for (const id of [newSessionID(randomBytes), 's-short', '', '../users/alice', 'x?y']) {
        expect(store.get(id), id).to.equal(undefined);
        expect(await store.read(id, { signal }), id).to.equal(undefined);
        await store.delete(id, signal);
      }
    });

    it('reads a session of another replica at once, and caches it soon', async () => {
      const { stores } = open();
      const session = await stored();
      expect(await stores[1].read(session.id, { signal })).to.deep.equal(session);
      await until(() => stores[1].get(session.id) !== undefined);
      expect(stores[1].get(session.id)).to.deep.equal(session);
    });

    it('replaces only the version that was read', async () => {
      const { stores } = open();
      const first = await stored();
      const second = await stores[1].replace(
        { ...first, generation: 1, refreshHash: 'b'.repeat(64) },
        signal,
      );
      expect(second).to.include({ id: first.id, uid: first.uid, generation: 1, refreshHash: 'b'.repeat(64) });
      expect(second.resourceVersion).to.not.equal(first.resourceVersion);
      expect(await refusal(stores[0].replace({ ...first, generation: 2 }, signal))).to.equal('Conflict');
      expect(await stores[0].read(first.id, { signal })).to.deep.equal(second);
    });

    it('returns NotFound for a replace of a deleted session', async () => {
      const { stores } = open();
      const session = await stored();
      await stores[1].delete(session.id, signal);
      expect(await refusal(stores[1].replace(session, signal))).to.equal('NotFound');
    });

    it('evicts a deleted session at once, and the other replica soon', async () => {
      const { stores } = open();
      const session = await stored();
      await until(() => stores[1].get(session.id) !== undefined);
      await stores[0].delete(session.id, signal);
      expect(stores[0].get(session.id)).to.equal(undefined);
      expect(stores[0].ofUser(session.user).map(({ id }) => id)).to.not.include(session.id);
      await until(() => stores[1].get(session.id) === undefined);
      expect(await stores[1].read(session.id, { signal })).to.equal(undefined);
    });

    it('deletes twice without an error', async () => {
      const { stores } = open();
      const session = await stored();
      await stores[0].delete(session.id, signal);
      await stores[0].delete(session.id, signal);
      await stores[1].delete(session.id, signal);
    });

    it('deletes only the version of the precondition', async () => {
      const { stores } = open();
      const first = await stored();
      const second = await stores[0].replace({ ...first, generation: 1 }, signal);
      expect(await refusal(stores[0].delete(first.id, signal, first))).to.equal('Conflict');
      expect(await stores[0].read(first.id, { signal })).to.deep.equal(second);
      await stores[0].delete(first.id, signal, second);
      expect(await stores[0].read(first.id, { signal })).to.equal(undefined);
    });

    it('lists the sessions of one user', async () => {
      const { stores } = open();
      const user = `user-${randomBytes(4).toString('hex')}`;
      const mine = [await stored({ user }), await stored({ user })].map(({ id }) => id).toSorted();
      await stored({ user: `${user}-2` });
      const ids = (store: SessionStore) =>
        store
          .ofUser(user)
          .map(({ id }) => id)
          .toSorted();
      expect(ids(stores[0])).to.deep.equal(mine);
      const atOnce = await stores[1].readOfUser(user, signal);
      expect(atOnce.map(({ id }) => id)).to.have.members(mine);
      await until(() => stores[1].ofUser(user).length === 2);
      expect(ids(stores[1])).to.deep.equal(mine);
      expect(stores[0].ofUser('nobody')).to.deep.equal([]);
    });

    it('returns no expired or idle session', async () => {
      const [store] = open().stores;
      const soon = Date.now() + 1_000;
      const user = `user-${randomBytes(4).toString('hex')}`;
      const sessions = [await stored({ user, notAfter: soon }), await stored({ user, idleNotAfter: soon })];
      await until(() => sessions.every(({ id }) => store.get(id) === undefined));
      expect(Date.now()).to.be.at.least(soon);
      for (const { id } of sessions) expect(await store.read(id, { signal })).to.equal(undefined);
      expect(store.ofUser(user)).to.deep.equal([]);
      expect(await store.readOfUser(user, signal)).to.deep.equal([]);
    });
  });
}
