// Tests of the session store against a real control plane, with two replicas.
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { OAuthError } from '../../../../apis/oauth/errors.ts';
import type { Grant } from '../../../../server/oauth/grants/grant.ts';
import { RefreshTokenGrant } from '../../../../server/oauth/grants/refresh-token-grant.ts';
import type { ClusterSessionStore } from '../../../../server/oauth/sessions/cluster-session-store.ts';
import type { StoredSession } from '../../../../server/oauth/sessions/session.ts';
import { SessionCreator } from '../../../../server/oauth/sessions/session-creator.ts';
import { SessionReaper } from '../../../../server/oauth/sessions/session-reaper.ts';
import { TokenIssuer, type TokenResponse } from '../../../../server/oauth/tokens/token-issuer.ts';
import { describeSessionStore } from '../../../conformance/session-store.ts';
import { memoryKeyRing } from '../../../support/oauth/memory-key-ring.ts';
import { newSession } from '../../../support/oauth/new-session.ts';
import { newClient } from '../../../support/oauth/oauth-clients.ts';
import { ALICE, passwordSince } from '../../../support/oauth/signed-in.ts';
import { until } from '../../../support/until.ts';
import type { IamCluster } from '../iam/iam-cluster.ts';
import { GROUP, log, type Replica, SessionReplicas } from './session-replicas.ts';

const CLIENT = newClient('console');

export function describeSessions(subject: () => IamCluster): void {
  describe('sessions as custom resources, with two replicas', () => {
    const signal = new AbortController().signal;
    let replicas: SessionReplicas;
    let a: Replica;
    let b: Replica;

    before(async () => {
      replicas = await SessionReplicas.start(subject());
      [a, b] = await Promise.all([replicas.replica(), replicas.replica()]);
    });
    after(() => replicas?.stop());

    describeSessionStore('the cluster', () => ({ stores: [a.store, b.store] }));

    const users = { synced: true, get: () => ALICE };
    const credentials = { synced: true, get: () => passwordSince(0) };
    const kubectl = (...args: readonly string[]): Promise<string> => replicas.cluster.kubectl(args);

    async function signIn(
      store: ClusterSessionStore,
      userAgent = 'curl/8.5',
    ): Promise<{ session: StoredSession; refreshToken: string | undefined }> {
      const opening = new SessionCreator({
        sessions: store,
        sessionsPerUser: 1000,
        random: randomBytes,
        now: Date.now,
        log,
      });
      const { session, refreshToken } = opening.prepare({
        account: ALICE,
        credential: passwordSince(0),
        client: CLIENT,
        scopes: ['email'],
        source: '192.0.2.7',
        userAgent,
      });
      return { session: await opening.store(session, signal), refreshToken };
    }

    function grantOf(sessions: ClusterSessionStore): Grant {
      const tokens = new TokenIssuer({ keys: replicas.keys, issuer: () => 'https://x/oauth', audience: 'x' });
      return new RefreshTokenGrant({
        sessions,
        users,
        credentials,
        tokens,
        random: randomBytes,
        now: Date.now,
        log,
      });
    }
    function refresh(
      store: ClusterSessionStore,
      token: string | undefined,
      ending = signal,
    ): Promise<TokenResponse> {
      return grantOf(store).exchange({
        client: CLIENT,
        form: new Map([['refresh_token', token ?? '']]),
        source: '192.0.2.7',
        userAgent: 'test',
        requestID: 'r-1',
        signal: ending,
      });
    }
    const failure = (promise: Promise<unknown>): Promise<unknown> =>
      promise.then(
        () => undefined,
        (error: unknown) => error,
      );

    it('are shown by kubectl with user, client, source, age and last use', async () => {
      const { session, refreshToken } = await signIn(a.store);
      const lines = (await kubectl('get', 'sessions', session.id)).trim().split('\n');
      expect(lines[0]?.split(/ {2,}/)).to.deep.equal([
        'NAME',
        'USER',
        'CLIENT',
        'SOURCE',
        'AGE',
        'LAST-USED',
      ]);
      expect(lines[1]).to.match(new RegExp(`^${session.id} +alice +console +192\\.0\\.2\\.7 +\\d+s +\\d+s$`));
      const object = await kubectl('get', 'session', session.id, '-o', 'yaml', '--show-managed-fields');
      expect(object).to.not.contain(refreshToken).and.not.contain('prt_');
    });

    it('end everywhere with kubectl delete session', async () => {
      const { session, refreshToken } = await signIn(a.store);
      await until(() => b.store.get(session.id) !== undefined);
      await kubectl('delete', 'session', session.id);
      await until(() => a.store.get(session.id) === undefined && b.store.get(session.id) === undefined);
      expect(await a.store.read(session.id, signal)).to.equal(undefined);
      expect(await failure(refresh(b.store, refreshToken))).to.have.property('code', 'invalid_grant');
    });

    it('are refreshed at a replica with a token of another replica, at once', async () => {
      const { refreshToken } = await signIn(a.store);
      let response = await refresh(b.store, refreshToken);
      for (let i = 0; i < 10; i++)
        response = await refresh(i % 2 === 0 ? a.store : b.store, response.refresh_token);
    });

    it('let one of two concurrent refreshes win, then end', async () => {
      for (let round = 0; round < 5; round++) {
        const { session, refreshToken } = await signIn(a.store);
        await until(() => b.store.get(session.id) !== undefined);
        const responses = await Promise.all([
          failure(refresh(a.store, refreshToken)),
          failure(refresh(b.store, refreshToken)),
        ]);
        const refused = responses.filter((error) => error instanceof OAuthError);
        expect(refused.map(({ code }) => code)).to.deep.equal(['invalid_grant']);
        expect(await a.store.read(session.id, signal)).to.equal(undefined);
        await until(() => a.store.get(session.id) === undefined && b.store.get(session.id) === undefined);
      }
    });

    it('survive a replica that crashes before the write of a rotation', async () => {
      const { session, refreshToken } = await signIn(a.store);
      const dying = await replicas.replica();
      dying.proxy.freeze();
      dying.proxy.freezeNew();
      const gone = new AbortController();
      const response = failure(refresh(dying.store, refreshToken, gone.signal));
      await dying.stop();
      gone.abort(new Error('killed'));
      expect(await response).to.be.instanceOf(Error);
      expect(await a.store.read(session.id, signal)).to.include({ generation: 0 });
      await refresh(b.store, refreshToken);
    });

    it('end, as documented, when a client retries a refresh whose response was lost', async () => {
      const { session, refreshToken } = await signIn(a.store);
      // The replica crashed after its write: the client never received the response.
      await refresh(a.store, refreshToken);
      expect(await failure(refresh(b.store, refreshToken))).to.have.property('code', 'invalid_grant');
      expect(await b.store.read(session.id, signal)).to.equal(undefined);
    });

    it('cannot be forged with the permission to create objects', async () => {
      const { session } = await signIn(a.store);
      const saved = JSON.parse(await kubectl('get', 'session', session.id, '-o', 'json')) as {
        metadata: object;
        spec: object;
      };
      const forge = async (id: string, spec: object): Promise<void> => {
        const forged = { apiVersion: `${GROUP}/v1beta1`, kind: 'Session', metadata: { name: id }, spec };
        await replicas.cluster.kubectl(['create', '-f', '-'], JSON.stringify(forged));
      };
      const other = a.store.newID(randomBytes);
      await forge(other, saved.spec);
      expect(await a.store.read(other, signal)).to.equal(undefined);
      const admin = a.store.newID(randomBytes);
      await forge(admin, { ...saved.spec, user: 'admin' });
      expect(await b.store.read(admin, signal)).to.equal(undefined);
      await until(() => [...b.store.all()].some(({ name }) => name === admin));
      expect(b.store.get(admin)).to.equal(undefined);
      await kubectl('patch', 'session', session.id, '--type=merge', '-p', '{"spec":{"user":"admin"}}');
      expect(await a.store.read(session.id, signal)).to.equal(undefined);
      await until(() => a.store.get(session.id) === undefined);
    });

    it('are invalid under another key', async () => {
      const { session } = await signIn(a.store);
      const stranger = await replicas.replica({ keys: await memoryKeyRing() });
      await until(() => [...stranger.store.all()].some(({ name }) => name === session.id));
      expect(stranger.store.get(session.id)).to.equal(undefined);
      expect(await stranger.store.read(session.id, signal)).to.equal(undefined);
    });

    it('become stale soon after the watch falls silent, and recover with it', async () => {
      const quiet = await replicas.replica({ staleAfterMs: 12_000 });
      const { session } = await signIn(a.store);
      await until(() => quiet.store.get(session.id) !== undefined);
      quiet.proxy.freeze();
      quiet.proxy.freezeNew();
      await a.store.delete(session.id, signal);
      await until(() => !quiet.store.fresh);
      quiet.proxy.thaw();
      quiet.proxy.cut();
      await until(() => quiet.store.fresh && quiet.store.get(session.id) === undefined);
    });

    it('stay fresh without any change', async () => {
      let clock = 0;
      const idle = await replicas.replica({ staleAfterMs: 12_000, monotonic: () => clock });
      for (let round = 0; round < 3; round++) {
        await until(() => idle.store.fresh);
        clock += 12_001;
        expect(idle.store.fresh).to.equal(false);
      }
    });

    it('are deleted by the reaper when they are expired or their user is deleted, and not before', async () => {
      const { session: kept } = await signIn(a.store);
      const soon = Date.now() + 2_000;
      const expiring = await a.store.create(newSession({ notAfter: soon }), signal);
      const orphan = await a.store.create(newSession({ user: 'nobody', userUID: 'none' }), signal);
      await until(
        () => b.store.get(kept.id) !== undefined && [...b.store.all()].some(({ name }) => name === orphan.id),
      );
      const reaper = new SessionReaper({
        sessions: b.store,
        users: { synced: true, get: (name) => (name === 'alice' ? ALICE : undefined) },
        credentials,
        log,
        now: Date.now,
        timing: { intervalMs: 1000, settleMs: 0, invalidMs: 86_400_000 },
      });
      await until(() => Date.now() >= soon);
      expect(await reaper.sweep(signal)).to.be.at.least(2);
      const left = await kubectl('get', 'sessions', '-o', 'name');
      expect(left).to.contain(kept.id).and.not.contain(expiring.id).and.not.contain(orphan.id);
    });
  });
}
