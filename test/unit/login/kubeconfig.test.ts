// Tests of the kubeconfig entries that a sign-in writes and reads.
import { lstat, mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { checkContextName, kubeconfigFile, readContext, writeContext } from '../../../login/kubeconfig.ts';
import { rejection } from '../../support/rejection.ts';
import { scratchFolder } from '../../support/scratch.ts';

const TARGET = { server: 'https://api.example.com', context: 'prod', clientID: 'kubectl', ca: 'PEM\n' };
const PLUGIN = { command: '/opt/node', args: ['/clone/login/main.ts'] };

type Config = Record<'clusters' | 'contexts' | 'users', unknown[]> & Record<string, unknown>;

const EXISTING = `# Clusters of the team
apiVersion: v1
kind: Config
preferences: {colors: true}
clusters:
- {name: staging, cluster: {server: "https://staging.example.com"}} # keep
contexts:
- name: staging
  context: {cluster: staging, user: me}
current-context: staging
users:
- name: me # mine
  user:
    token: secret
`;

describe('a kubeconfig', () => {
  let folder: Awaited<ReturnType<typeof scratchFolder>>;
  let file: string;
  beforeEach(async () => {
    folder = await scratchFolder();
    file = join(folder.path, '.kube/config');
  });
  afterEach(() => folder[Symbol.asyncDispose]());

  async function write(content: string, mode = 0o600): Promise<void> {
    await mkdir(join(folder.path, '.kube'), { recursive: true });
    await writeFile(file, content, { mode });
  }

  it('keeps users of other programs, other entries, comments, permissions and symbolic links', async () => {
    await write(EXISTING, 0o640);
    for (const refused of [
      checkContextName(file, 'me'),
      writeContext(file, { ...TARGET, context: 'me' }, PLUGIN),
    ]) {
      expect((await rejection(refused)).message).to.contain(
        'has another user "me": choose a name with --context NAME',
      );
    }
    expect(await readFile(file, 'utf8')).to.equal(EXISTING);
    expect(await readContext(file, 'staging')).to.equal(undefined);
    const link = join(folder.path, 'link');
    await symlink(file, link);
    await writeContext(link, TARGET, PLUGIN);
    expect((await lstat(link)).isSymbolicLink()).to.equal(true);
    const content = await readFile(file, 'utf8');
    for (const comment of ['# Clusters of the team', '# keep', '# mine']) expect(content).to.contain(comment);
    expect((await stat(file)).mode & 0o777).to.equal(0o640);
    const [before, after] = [parse(EXISTING), parse(content)] as [Config, Config];
    for (const list of ['clusters', 'contexts', 'users'] as const) {
      expect(after[list]).to.have.length(2);
      expect(after[list][0]).to.deep.equal(before[list][0]);
    }
    expect(after['preferences']).to.deep.equal({ colors: true });
    expect(after['current-context']).to.equal('prod');
  });

  it('replaces its own entries, and keeps the namespace of the context', async () => {
    await writeContext(file, TARGET, PLUGIN);
    const named = (await readFile(file, 'utf8')).replace(
      '      user: prod',
      '      user: prod\n      namespace: shop',
    );
    await write(named);
    await writeContext(file, { ...TARGET, server: 'https://new.example.com', ca: undefined }, PLUGIN);
    expect(await readContext(file, 'prod')).to.deep.equal({
      ...TARGET,
      server: 'https://new.example.com',
      ca: undefined,
    });
    const { contexts, clusters } = parse(await readFile(file, 'utf8')) as Config;
    expect(contexts).to.deep.equal([
      { name: 'prod', context: { cluster: 'prod', user: 'prod', namespace: 'shop' } },
    ]);
    expect(clusters).to.deep.equal([{ name: 'prod', cluster: { server: 'https://new.example.com' } }]);
  });

  it('can be empty, have empty lists, or be JSON', async () => {
    const json = JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: null,
      users: [],
      contexts: [],
    });
    for (const content of ['', '# none yet\n', json]) {
      await write(content);
      await writeContext(file, TARGET, PLUGIN);
      expect(await readContext(file, undefined), content).to.deep.equal(TARGET);
    }
  });

  it('is not changed if it is invalid', async () => {
    for (const content of ['clusters: [', '- a list\n']) {
      await write(content);
      expect((await rejection(writeContext(file, TARGET, PLUGIN))).message).to.contain(file);
      expect(await readFile(file, 'utf8')).to.equal(content);
    }
  });

  it('is the given file, the first file of KUBECONFIG, or the default file', () => {
    const env = { HOME: '/home/ada', KUBECONFIG: ':/a:/b' };
    expect(kubeconfigFile('/c', env)).to.equal('/c');
    expect(kubeconfigFile(undefined, env)).to.equal('/a');
    expect(kubeconfigFile(undefined, { HOME: '/home/ada', KUBECONFIG: '' })).to.equal(
      '/home/ada/.kube/config',
    );
  });
});
