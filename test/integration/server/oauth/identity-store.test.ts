// Tests of links to people of providers with two replicas, with the permissions of the server on a real kube-apiserver.
import { expect } from 'chai';
import { pino } from 'pino';
import { SERVICE_ACCOUNT } from '../../../../hack/extension/registration.ts';
import { Admission } from '../../../../server/admission/admission.ts';
import { ClusterConnection } from '../../../../server/cluster/connection/connection.ts';
import { kubeConfigSource } from '../../../../server/cluster/connection/kubeconfig.ts';
import { AccountLinks } from '../../../../server/oauth/providers/account-links.ts';
import { IdentityStore } from '../../../../server/oauth/users/identity-store.ts';
import { MemoryCredentials } from '../../../support/oauth/memory-users.ts';
import { until } from '../../../support/until.ts';
import type { OAuthCluster } from './oauth-cluster.ts';
import { sharedCluster } from './shared-cluster.ts';

describe('the store of identities', () => {
  const { signal } = new AbortController();
  const stop = new AbortController();
  let cluster: OAuthCluster;
  let client: ClusterConnection;
  let stores: readonly IdentityStore[];

  before(async () => {
    cluster = await sharedCluster();
    const kubeconfig = await cluster.controlPlane.kubeconfigFor(SERVICE_ACCOUNT);
    client = new ClusterConnection({ kubeConfig: kubeConfigSource(kubeconfig) });
    stores = [newStore(), newStore()];
    for (const store of stores) void store.run(stop.signal);
    await until(() => stores.every(({ synced }) => synced));
  });
  after(async () => {
    stop.abort();
    await cluster?.reset();
    client?.close();
  });

  const newStore = (): IdentityStore =>
    new IdentityStore({
      client,
      group: 'iam.platform.io',
      lookups: new Admission().lookups(),
      log: pino({ level: 'silent' }),
    });

  it('keeps one of two identities that a user unlinks at two replicas at the same time', async () => {
    const links = stores.map(
      (store) =>
        new AccountLinks({
          providers: [{ name: 'company', displayName: 'Company account' }],
          store,
          credentials: new MemoryCredentials(),
          now: Date.now,
        }),
    );
    for (let round = 0; round < 5; round++) {
      const user = { name: `user-${round}`, uid: `uid-of-user-${round}` };
      for (const subject of ['one', 'two']) {
        const person = { issuer: `https://${user.name}.example.com`, subject, name: subject, groups: [] };
        expect(await links[0]?.link('company', person, user, { signal })).to.equal('linked');
      }
      await until(() => stores.every((store) => store.ofUser(user).length === 2));
      const names = stores[0]?.ofUser(user).map(({ name }) => name) ?? [];
      const outcomes = await Promise.allSettled(
        links.map((each, index) => each.unlink(names[index] ?? '', user, signal)),
      );
      const unlinked = outcomes.filter((each) => each.status === 'fulfilled' && each.value === 'unlinked');
      expect(unlinked.length, JSON.stringify(outcomes)).to.be.at.most(1);
      await until(() => stores.every((store) => store.ofUser(user).length === 2 - unlinked.length));
      expect(links.map((each) => each.canSignIn(user))).to.deep.equal([true, true]);
    }
  });
});
