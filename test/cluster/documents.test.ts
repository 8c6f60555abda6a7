// Installs, upgrades, restores and uninstalls the server on a real cluster with the commands of the documents, from
// their own text.
import { expect } from 'chai';
import type { Cluster } from '../../hack/cluster/cluster.ts';
import { directRequest } from './direct-request.ts';
import { blocksOf, blockWith, commandIn, imageCommands } from './document.ts';
import { InstallationFolder, VERSION } from './installation-folder.ts';
import { NAMESPACE, sharedCluster } from './shared-cluster.ts';

const NEXT_VERSION = '0.2.0';
const PASSWORD = 'correct horse battery staple';
const OPERATIONS = 'docs/operations.md';
const IN_POD = 'kubectl -n platform-system exec deploy/ks-apiserver';
const DEPLOYMENT = ['-n', NAMESPACE, 'get', 'deployment/ks-apiserver', '-o'] as const;

describe('the documents', () => {
  let cluster: Cluster;
  let folder: InstallationFolder;

  before(async () => {
    cluster = sharedCluster();
    folder = await InstallationFolder.create(cluster);
  });
  after(() => folder?.[Symbol.asyncDispose]());

  const image = (): Promise<string> =>
    cluster.kubectl(...DEPLOYMENT, 'jsonpath={.spec.template.spec.containers[0].image}');
  const keys = async (): Promise<string[]> => {
    const list = await commandIn(
      'docs/authentication-configuration.md',
      `${IN_POD} -- ks-apiserver keys list`,
    );
    return (await folder.run(list)).trim().split('\n');
  };

  /** Signs in with a password, and returns the status with the tokens. */
  async function signIn(username: string): Promise<{ status: number; body: string }> {
    const { clusterIP, ca } = await cluster.service();
    const client = { client_id: 'platform', client_secret: 'platform' };
    const form = { grant_type: 'password', username, password: PASSWORD, ...client };
    return directRequest({ address: clusterIP, ca, path: '/oauth/token', form });
  }

  it('install the server with kustomize', async () => {
    const [kustomization = '', apply = ''] = await blocksOf('docs/installation.md', 'With kustomize');
    await folder.run(await imageCommands(), { inClone: true });
    await folder.write('kustomization.yaml', kustomization);
    expect(await folder.run(apply)).to.match(/^ks-node\s+Ready\s/m);
    expect(await image()).to.match(/^registry\.example\.com\//);
  });

  it('print the password of the first administrator', async () => {
    const wait = ['wait', '--for=jsonpath={.data.password}', '--timeout=60s', 'secret/ks-apiserver-admin'];
    await cluster.kubectl('-n', NAMESPACE, ...wait);
    const print = await blockWith('docs/users.md', 'The first administrator', 'ks-apiserver-admin');
    expect(await folder.run(print)).to.match(/^[\w-]{24}$/);
  });

  it('print the state of the pods, and their warnings', async () => {
    // The pods of the previous tests are replaced.
    await cluster.available();
    const block = await blockWith(OPERATIONS, 'Day-2 operations', 'logs -l');
    // Without a warning, grep fails.
    const output = await folder.run(`${block.trim()} || true`);
    expect(output).to.match(/^ks-apiserver-\S+\s+1\/1\s+Running/m);
  });

  it('call the server', async () => {
    const block = await blockWith(OPERATIONS, 'Calling the server', 'port-forward');
    await cluster.kubectl('create', 'serviceaccount', 'caller');
    await cluster.kubectl(
      'create',
      'clusterrolebinding',
      'caller',
      '--clusterrole=platform-nodes-reader',
      '--serviceaccount=default:caller',
    );
    const listens = 'until (exec 3<>/dev/tcp/localhost/9443) 2>/dev/null; do sleep 0.1; done';
    const commands = block
      .replace(' 9443 &', ` 9443 >/dev/null & trap 'kill $!' EXIT; ${listens}`)
      .replace('NAMESPACE', 'default')
      .replace('SERVICEACCOUNT', 'caller');
    const output = await folder.run(commands);
    expect(JSON.parse(output)).to.deep.include({ totalItems: 1 });
  });

  it('upgrade', async () => {
    await folder.checkOut(NEXT_VERSION);
    await folder.run((await imageCommands()).replaceAll(VERSION, NEXT_VERSION), { inClone: true });
    const upgrade = await blockWith(OPERATIONS, 'Upgrade', 'kubectl diff');
    // Its exit code is 1 if there are differences.
    const output = await folder.run(
      upgrade.replace('kubectl diff -k .', 'kubectl diff -k . || test $? -eq 1'),
    );
    expect(output)
      .to.match(new RegExp(`^\\+.*ks-apiserver:${NEXT_VERSION}$`, 'm'))
      .and.to.match(/successfully rolled out/);
    expect(await image()).to.match(new RegExp(`:${NEXT_VERSION}$`));
  });

  /** The other commands wait for pods most of their time. */
  describe('while an image is built twice,', () => {
    let reproduced: Promise<string>;

    before(async () => {
      const block = await blockWith('CONTRIBUTING.md', 'Reproduce an image', 'buildah build');
      const commands = block.replaceAll(/\b(?:first|second)\b/g, `${folder.path}/$&`);
      reproduced = folder.run(commands, { inClone: true });
      reproduced.catch(() => undefined);
    });

    it('roll back', async () => {
      const [undo = ''] = await blocksOf(OPERATIONS, 'Roll back');
      await folder.run(undo);
      expect(await image()).to.match(new RegExp(`:${VERSION}$`));
      await folder.checkOut(VERSION);
      const output = await folder.run(await commandIn(OPERATIONS, 'kubectl apply -k .'));
      expect(output).to.match(/^deployment\.apps\/ks-apiserver (?:configured|unchanged)$/m);
      await cluster.available();
      expect(await image()).to.match(new RegExp(`:${VERSION}$`));
    });

    it('rotate the signing keys', async () => {
      const before = await keys();
      await folder.run(await commandIn(OPERATIONS, `${IN_POD} -- ks-apiserver keys rotate`));
      const signal = AbortSignal.timeout(60_000);
      while ((await keys()).length === before.length) signal.throwIfAborted();
    });

    it('create a user, who can sign in', async () => {
      const create = await blockWith('docs/users.md', 'Managing users', 'create robot');
      const line = create.split('\n').find((each) => each.startsWith('printf'));
      await folder.run(`PASSWORD='${PASSWORD}'; ${line}`);
      expect(await signIn('robot')).to.deep.include({ status: 200 });
    });

    it('delete all sessions', async () => {
      const remove = await commandIn(OPERATIONS, 'kubectl delete sessions.iam.platform.io --all');
      expect(await folder.run(remove)).to.match(/deleted/);
    });

    const users = async (): Promise<string[]> =>
      (await cluster.kubectl('get', 'users.iam.platform.io', '-o', 'name')).trim().split('\n');
    let backedUp: string[] = [];

    it('back up the users, and uninstall', async () => {
      backedUp = await users();
      expect(backedUp).to.include.members(['user.iam.platform.io/admin', 'user.iam.platform.io/robot']);
      await folder.run(await blockWith('docs/operations.md', 'Backup and restore', 'users.json'));
      await folder.run(await blockWith('docs/installation.md', 'Uninstall', 'delete -k'));
      expect(await cluster.kubectl('get', 'namespace', NAMESPACE, '--ignore-not-found')).to.equal('');
      const resources = await cluster.kubectl('get', 'customresourcedefinitions,apiservices', '-o', 'name');
      expect(resources).to.not.contain('platform.io');
    });

    it('restore the users in a new installation', async () => {
      await folder.run(await blockWith('docs/operations.md', 'Restore', 'user restore'));
      await cluster.available();
      expect(await signIn('robot')).to.deep.include({ status: 200 });
      expect(await users()).to.have.members(backedUp);
    });

    it('reproduce the image', () => reproduced);
  });
});
