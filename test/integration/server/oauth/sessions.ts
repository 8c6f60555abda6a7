// Tests of the session store against a real control plane, with two replicas.
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import type { ClusterSessionStore } from '../../../../server/oauth/sessions/cluster-session-store.ts';
import type { StoredSession } from '../../../../server/oauth/sessions/session.ts';
import { SessionCreator } from '../../../../server/oauth/sessions/session-creator.ts';
import { describeSessionStore } from '../../../conformance/session-store.ts';
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
  });
}
