import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { expect } from 'chai';
import { kubeConfigSource } from '../../../../server/cluster/kubeconfig.ts';

describe('the kubeconfig', () => {
  let dir: string;

  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'kubeconfig-'));
  });
  afterEach(() => rm(dir, { recursive: true }));

  async function write(name: string, server: string, current = true): Promise<string> {
    const file = join(dir, name);
    await writeFile(
      file,
      JSON.stringify({
        clusters: [{ name, cluster: { server, 'certificate-authority': 'ca.crt' } }],
        users: [{ name, user: { token: 't' } }],
        contexts: [{ name, context: { cluster: name, user: name } }],
        ...(current ? { 'current-context': name } : {}),
      }),
    );
    return file;
  }
  const places = () => ({ serviceAccountToken: join(dir, 'token'), home: join(dir, 'home') });

  it('is read again when its file has changed, and is the same object until then', async () => {
    const file = await write('a', 'https://one');
    const source = kubeConfigSource(file);
    const first = source();
    expect(source()).to.equal(first);
    expect(first.getCurrentCluster()).to.include({ server: 'https://one', caFile: join(dir, 'ca.crt') });
    await write('a', 'https://two');
    expect(source().getCurrentCluster()).to.include({ server: 'https://two' });
  });

  it('is merged of several files, of which the first wins and some may be missing', async () => {
    const [a, b] = [await write('a', 'https://a', false), await write('b', 'https://b')];
    const config = kubeConfigSource([a, join(dir, 'missing'), b].join(delimiter))();
    expect(config.getCurrentContext()).to.equal('b');
    expect(config.clusters.map(({ name }) => name)).to.deep.equal(['a', 'b']);
  });

  it('is the service account of the pod when no file was given', async () => {
    await writeFile(places().serviceAccountToken, 'token');
    await write('home', 'https://home');
    expect(kubeConfigSource(undefined, places())().getCurrentUser()?.authProvider).to.include({
      name: 'tokenFile',
    });
  });

  it('is the one of the home folder outside a pod', async () => {
    await write('home', 'https://home');
    expect(kubeConfigSource('', places())().getCurrentCluster()?.server).to.equal('https://home');
  });

  it('is asked for in one clear line when there is none', () => {
    expect(() => kubeConfigSource(undefined, places())()).to.throw('no kubeconfig was given');
    expect(() => kubeConfigSource(join(dir, 'x') + delimiter + join(dir, 'y'))()).to.throw(
      'none of the kubeconfig',
    );
  });
});
