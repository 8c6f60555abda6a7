// Tests of users and passwords against a real kube-apiserver, with only the permissions of the server.
import { expect } from 'chai';
import { pino } from 'pino';
import { Admission } from '../../../../server/admission/admission.ts';
import { ClusterConnection } from '../../../../server/cluster/connection/connection.ts';
import { kubeConfigSource } from '../../../../server/cluster/connection/kubeconfig.ts';
import { ClusterCredentialStore } from '../../../../server/oauth/users/credential-store.ts';
import { FirstAdministrator } from '../../../../server/oauth/users/first-administrator.ts';
import { ClusterUserDirectory } from '../../../../server/oauth/users/user-directory.ts';
import { describeCredentialStore } from '../../../conformance/credential-store.suite.ts';
import { describeUsers } from '../../../conformance/users.suite.ts';
import { until } from '../../../support/until.ts';
import { SERVER_USER } from '../registration/registered-cluster.ts';
import { type IamCluster, SOME_HASH } from './iam-cluster.ts';
import { clearedCluster } from './shared-cluster.ts';

const log = pino({ level: 'silent' });
const group = 'iam.platform.io';

describe('users and passwords in a real cluster, with the permissions of the server', () => {
  const stop = new AbortController();
  const running: Promise<void>[] = [];
  const lookups = new Admission().lookups();
  let cluster: IamCluster;
  let client: ClusterConnection;
  let users: ClusterUserDirectory;
  let credentials: ClusterCredentialStore;

  before(async () => {
    cluster = await clearedCluster();
    const kubeconfig = await cluster.controlPlane.kubeconfigFor(SERVER_USER);
    client = new ClusterConnection({ kubeConfig: kubeConfigSource(kubeconfig) });
    users = new ClusterUserDirectory({ client, group, lookups, log });
    credentials = new ClusterCredentialStore({ client, group, lookups, log });
    running.push(users.run(stop.signal), credentials.run(stop.signal));
    await until(() => users.synced && credentials.synced);
  });
  after(async () => {
    stop.abort();
    await Promise.all(running);
    client?.close();
  });

  describeUsers('the cluster', () => users);
  describeCredentialStore(
    'the cluster',
    () => credentials,
    async (user) => {
      const made = await users.create({ metadata: { name: user }, spec: {} }, stop.signal);
      return made.metadata.uid ?? '';
    },
    async (user) => {
      await cluster.kubectl(['delete', `credentials.iam.platform.io/${user}`]);
      await until(() => credentials.get(user) === undefined);
    },
  );

  it('count as deleted at once, even if finalizers keep the object', async () => {
    const made = await users.create({ metadata: { name: 'u-held' }, spec: {} }, stop.signal);
    const held = ['patch', 'users.iam.platform.io/u-held', '--type=merge', '--patch'];
    await cluster.kubectl([...held, '{"metadata":{"finalizers":["example.com/keeps"]}}']);
    const present = await users.read('u-held', stop.signal);
    if (present === undefined) throw new Error('user not found');
    await users.replace({ ...present, spec: { displayName: 'Held' } }, stop.signal);
    expect(await users.delete('u-held', made.metadata.uid ?? '', stop.signal)).to.equal(true);
    expect(users.get('u-held')).to.equal(undefined);
    expect(await users.read('u-held', stop.signal)).to.equal(undefined);
    const name = ['get', 'users.iam.platform.io/u-held', '-o', 'jsonpath={.spec.displayName}'];
    expect(await cluster.kubectl(name)).to.equal('Held');
    await cluster.kubectl([...held, '{"metadata":{"finalizers":null}}']);
    const recreated = await users.create({ metadata: { name: 'u-held' }, spec: {} }, stop.signal);
    expect(users.get('u-held')?.uid).to.equal(recreated.metadata.uid);
  });

  it('begin with one administrator when several replicas start at once', async () => {
    await cluster.clear();
    const platform = { name: 'platform', namespace: 'platform-system' };
    const replicas = [1, 2, 3].map(
      () =>
        new FirstAdministrator({
          client,
          platform,
          users,
          credentials,
          // A valid format, with the password in place of the digest.
          hasher: { hash: (password) => Promise.resolve(hashNaming(password)) },
          log,
        }),
    );
    await Promise.all(replicas.map((replica) => replica.run(stop.signal)));
    const path = ['get', 'secret/ks-apiserver-admin', '--namespace=platform-system', '-o'];
    const password = await cluster.kubectl([...path, 'go-template={{.data.password | base64decode}}']);
    const groups = ['get', 'users.iam.platform.io/admin', '-o', 'jsonpath={.spec.groups}'];
    expect(await cluster.kubectl(groups)).to.equal('["platform-admins"]');
    await until(() => credentials.get('admin')?.passwordHash === hashNaming(password));
    expect(credentials.get('admin')).to.include({ mustChange: true });
    const state = 'jsonpath={.metadata.annotations.iam\\.platform\\.io/first-administrator}';
    expect(await cluster.kubectl([...path, state])).to.equal('done');
    await cluster.kubectl(['delete', 'users.iam.platform.io/admin']);
    await replicas[0]?.run(stop.signal);
    expect(await cluster.kubectl(['get', 'users.iam.platform.io', '-o', 'name'])).to.equal('');
  });

  it('lose the password with the user, and have none after the user is recreated', async () => {
    const first = await users.create({ metadata: { name: 'lee' }, spec: {} }, stop.signal);
    const credential = {
      passwordHash: SOME_HASH,
      userUID: first.metadata.uid ?? '',
      mustChange: false,
      changedAt: 1_700_000_000_000,
    };
    await credentials.set('lee', credential, stop.signal);
    await cluster.kubectl(['delete', 'users.iam.platform.io/lee']);
    await until(() => credentials.get('lee') === undefined);
    const second = await users.create({ metadata: { name: 'lee' }, spec: {} }, stop.signal);
    expect(second.metadata.uid).not.to.equal(first.metadata.uid);
  });

  it('are not synced during an outage of the cluster', async () => {
    const impatient = new ClusterUserDirectory({ client, group, lookups, log, staleAfterMs: 1 });
    const ended = new AbortController();
    const run = impatient.run(ended.signal);
    await until(() => [...impatient.objects()].length > 0);
    await until(() => !impatient.synced);
    ended.abort();
    await run;
  });
});

function hashNaming(password: string): string {
  const bytes = Buffer.from(password).toString('base64').replaceAll('=', '');
  return `$argon2id$v=19$m=19456,t=2,p=1$c29tZXNhbHRzb21lc2FsdA$${bytes}`;
}
