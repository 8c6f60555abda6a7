// Publishes the chart, and installs, tests, upgrades, rolls back and uninstalls the server with the real helm, with the
// commands of the documents. The platform has another name, so the installation of the other tests stays.
import { expect } from 'chai';
import type { Cluster } from '../../hack/cluster/cluster.ts';
import { ChartRegistry } from './chart-registry.ts';
import { directRequest } from './direct-request.ts';
import { blockWith, linesOf } from './document.ts';
import { InstallationFolder } from './installation-folder.ts';
import { NAMESPACE, sharedCluster } from './shared-cluster.ts';

const PLATFORM = 'acme';
const ACME = `${PLATFORM}-system`;
const API_SERVICES = ['v1alpha3.resources.acme.io', 'v1alpha2.logging.acme.io'];
const PASSWORD = 'correct horse battery staple';
const VALUES = '--set platform=acme';
const TIMEOUT_MS = 180_000;

describe('the Helm chart on a real cluster', function () {
  this.timeout(TIMEOUT_MS);
  let cluster: Cluster;
  let folder: InstallationFolder;
  let registry: ChartRegistry;
  /** A session that began before the upgrade. */
  let refreshToken: string;
  let keys: string;

  before(async () => {
    cluster = sharedCluster();
    folder = await InstallationFolder.create(cluster);
    registry = await ChartRegistry.start(folder);
  });
  after(async () => {
    await registry?.[Symbol.asyncDispose]();
    await folder?.[Symbol.asyncDispose]();
  });

  /** Runs commands of a document on the host, for the platform of this test. The cluster has the image already. */
  async function run(commands: string): Promise<string> {
    const here = registry.here(commands).replaceAll(NAMESPACE, ACME).replaceAll('platform.io', 'acme.io');
    return folder.run(`cd '${folder.path}/ks-apiserver'\n${here}`, { inClone: true });
  }

  async function request(path: string, form?: Readonly<Record<string, string>>): Promise<string> {
    const get = (...args: string[]): Promise<string> => cluster.kubectl('get', ...args);
    const address = await get('service', 'ks-apiserver', '-n', ACME, '-o', 'jsonpath={.spec.clusterIP}');
    const bundle = await get('apiservice', String(API_SERVICES[0]), '-o', 'jsonpath={.spec.caBundle}');
    const ca = Buffer.from(bundle, 'base64').toString();
    const serverName = `ks-apiserver.${ACME}.svc`;
    const { status, body } = await directRequest({ address, serverName, ca, path, ...(form && { form }) });
    expect(status, body).to.equal(200);
    return body;
  }

  /** Returns the refresh token of the response. */
  async function token(form: Readonly<Record<string, string>>): Promise<string> {
    const body = await request('/oauth/token', { ...form, client_id: PLATFORM, client_secret: PLATFORM });
    const tokens = JSON.parse(body) as { refresh_token: string };
    return tokens.refresh_token;
  }

  async function refresh(): Promise<void> {
    refreshToken = await token({ grant_type: 'refresh_token', refresh_token: refreshToken });
    expect(await request('/oauth/keys')).to.equal(keys);
  }

  const installed = async (kinds: string): Promise<string[]> => {
    const names = await cluster.kubectl('get', kinds, '--all-namespaces', '-o', 'name');
    return names.split('\n').filter((name) => /acme/.test(name));
  };

  it('is packaged and pushed', async () => {
    expect(await registry.publish()).to.match(/^Pushed: .*charts\/ks-apiserver:/m);
  });

  it('is installed and tested with two commands', async () => {
    const block = await blockWith('README.md', 'Install it', 'helm install');
    const commands = linesOf(block, 'helm ').split('\n');
    expect(commands).to.have.length(2);
    const [install = '', test = ''] = commands;
    expect(await run(`${install} ${VALUES}`)).to.contain('kubectl get nodes.resources.acme.io');
    expect(await run(`${test} --logs`))
      .to.match(/Phase: +Succeeded/)
      .and.match(/readyz check passed/);
    expect(await cluster.kubectl('get', 'nodes.resources.acme.io')).to.match(/^ks-node\s/m);
  });

  it('keeps sessions and signing keys in an upgrade, which replaces the pods', async () => {
    const exec = `kubectl -n ${ACME} exec -i deploy/ks-apiserver -- ks-apiserver`;
    await run(`printf %s '${PASSWORD}' | ${exec} user create robot`);
    refreshToken = await token({ grant_type: 'password', username: 'robot', password: PASSWORD });
    keys = await request('/oauth/keys');
    const pods = await cluster.kubectl('get', 'pods', '-n', ACME, '-o', 'name');
    const upgrade = linesOf(await blockWith('docs/operations.md', 'Upgrade', 'helm upgrade'), 'helm ');
    await run(upgrade.replace('--values values.yaml', `${VALUES},configuration.log.level=debug,replicas=1`));
    await cluster.kubectl('wait', '--for=delete', '--timeout=60s', '-n', ACME, ...pods.trim().split('\n'));
    await refresh();
  });

  it('keeps them when it is rolled back', async () => {
    const rollback = await blockWith('docs/operations.md', 'Roll back', 'helm rollback');
    await run(linesOf(rollback, 'helm '));
    const configuration = ['get', 'configmap', 'ks-apiserver-configuration', '-n', ACME, '-o', 'yaml'];
    expect(await cluster.kubectl(...configuration)).not.to.contain('debug');
    await refresh();
  });

  it('leaves only what protects the users when it is uninstalled', async () => {
    const uninstall = await blockWith('docs/installation.md', 'Uninstall', 'helm uninstall');
    await run(uninstall);
    // kube-apiserver serves the custom resources itself.
    const ofCustomResources = 'apiservice.apiregistration.k8s.io/v1beta1.iam.acme.io';
    const kinds = 'apiservices,clusterroles,clusterrolebindings,rolebindings';
    expect(await installed(kinds)).to.deep.equal([ofCustomResources]);
    expect(await installed('customresourcedefinitions')).to.have.length(5);
    // While an APIService has no server, no namespace can be deleted.
    await cluster.kubectl('create', 'namespace', 'acme-empty');
    await cluster.kubectl('delete', 'namespace', 'acme-empty', '--timeout=60s');
  });

  it('protects the users while it is not installed', async () => {
    const role = [
      'create',
      'clusterrole',
      'acme-helpdesk',
      '--verb=get,update,patch',
      '--resource=users.iam.acme.io',
    ];
    await cluster.kubectl(...role);
    await cluster.kubectl(
      'create',
      'clusterrolebinding',
      'acme-helpdesk',
      '--clusterrole=acme-helpdesk',
      '--user=helpdesk',
    );
    const groups = JSON.stringify({ spec: { groups: ['acme-admins'] } });
    const patch = ['patch', 'users.iam.acme.io', 'robot', '--type=merge', '--patch', groups];
    expect(await cluster.kubectl(...patch, '--as=helpdesk').catch(String)).to.contain(
      'requires permission to impersonate',
    );
    await cluster.kubectl('delete', 'clusterrole,clusterrolebinding', 'acme-helpdesk');
  });

  it('finds the users, their sessions and the signing keys when it is installed again', async () => {
    const install = linesOf(await blockWith('README.md', 'Install it', 'helm install'), 'helm install');
    await run(`${install} ${VALUES}`);
    await refresh();
  });

  it('is removed with all users', async () => {
    await run(await blockWith('docs/installation.md', 'Uninstall', 'helm uninstall'));
    await run(await blockWith('docs/installation.md', 'Uninstall', 'delete namespace'));
    const kinds = 'customresourcedefinitions,validatingadmissionpolicies,validatingadmissionpolicybindings';
    expect(await installed(`${kinds},namespaces,clusterroles,clusterrolebindings`)).to.deep.equal([]);
  });
});
