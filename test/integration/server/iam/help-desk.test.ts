// Tests of the help desk role in docs/users.md, against a real kube-apiserver.
import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { type IamCluster, user } from './iam-cluster.ts';
import { clearedCluster } from './shared-cluster.ts';

const HELPDESK = 'helen';
/** A user of Kubernetes, to which a default ClusterRoleBinding grants permissions. */
const CONTROLLER_MANAGER = 'system:kube-controller-manager';

describe('the role of the help desk in the documents', () => {
  let cluster: IamCluster;
  let patch: string;

  before(async () => {
    cluster = await clearedCluster();
    const page = await readFile('docs/users.md', 'utf8');
    const [, role = ''] = /```yaml\n(apiVersion: rbac[^`]*name: help-desk[^`]*)```/.exec(page) ?? [];
    [, patch = ''] = /kubectl patch clusterrole help-desk --type=json -p '([^']*)'/.exec(page) ?? [];
    await cluster.kubectl(['create', '-f', '-'], role);
    const binding = ['create', 'clusterrolebinding', 'help-desk', '--clusterrole=help-desk'];
    await cluster.kubectl([...binding, `--user=${HELPDESK}`]);
  });

  const versionAs = ['get', '--raw', '/version'];

  it('creates developers, and updates only the listed users', async () => {
    const spec = { groups: ['developers'] };
    for (const name of ['alice', 'carol']) await cluster.write(HELPDESK, 'create', user(name, spec));
    const disable = ['--type=json', '-p', '[{"op": "add", "path": "/spec/disabled", "value": true}]'];
    const said = await cluster.refusal(HELPDESK, ['patch', 'users.iam.platform.io/carol', ...disable]);
    expect(said).to.include('cannot patch');
    await cluster.write(HELPDESK, 'replace', user('alice', spec));
    expect(await cluster.refusedWrite(HELPDESK, 'replace', user('carol', spec))).to.include('cannot update');
  });

  it('impersonates only the listed users, and no user of Kubernetes', async () => {
    await cluster.as(HELPDESK, ['--as=alice', ...versionAs]);
    expect(await cluster.refusal(HELPDESK, [`--as=${CONTROLLER_MANAGER}`, ...versionAs])).to.include(
      'cannot impersonate resource "users"',
    );
    // The permission that impersonation of all users would grant.
    const can = ['auth', 'can-i', 'create', 'serviceaccounts/token', `--as=${CONTROLLER_MANAGER}`];
    expect((await cluster.kubectl(can)).trim()).to.equal('yes');
  });

  it('includes a further user after the documented patch', async () => {
    expect(await cluster.refusal(HELPDESK, ['--as=carol', ...versionAs])).to.include('cannot impersonate');
    await cluster.kubectl(['patch', 'clusterrole', 'help-desk', '--type=json', '-p', patch]);
    await cluster.as(HELPDESK, ['--as=carol', ...versionAs]);
    await cluster.write(HELPDESK, 'replace', user('carol', { groups: ['developers'] }));
  });
});
