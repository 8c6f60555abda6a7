// Tests of the lookup of the control plane programs.
import { join } from 'node:path';
import { expect } from 'chai';
import { findBinaries } from '../../../../hack/control-plane/binaries.ts';
import { scratchFolder, script } from '../../../support/scratch.ts';

const { signal } = new AbortController();

async function withPrograms(
  folders: Record<string, Record<string, string>>,
  use: (root: string, env: NodeJS.ProcessEnv) => Promise<void>,
): Promise<void> {
  await using scratch = await scratchFolder();
  for (const [folder, programs] of Object.entries(folders)) {
    for (const [name, output] of Object.entries(programs)) {
      await script(join(scratch.path, folder, name), `echo '${output}'`);
    }
  }
  const env = {
    HOME: scratch.path,
    XDG_CACHE_HOME: join(scratch.path, 'cache'),
    KUBEBUILDER_ASSETS: join(scratch.path, 'assets'),
    PATH: `${join(scratch.path, 'first')}:${join(scratch.path, 'second')}`,
  };
  await use(scratch.path, env);
}

describe('the lookup of the programs', () => {
  it('skips programs of another version, and finds a later match', async () => {
    const kubectl = (version: string) => `{"clientVersion": {"gitVersion": "v${version}"}}`;
    const folders = {
      assets: { kubectl: kubectl('1.37.0'), 'kube-apiserver': 'Kubernetes v1.35.9' },
      first: { kubectl: kubectl('1.32.4'), etcd: 'etcd Version: 3.4.30' },
      second: { kubectl: kubectl('1.36.0') },
    };
    await withPrograms(folders, async (root, env) => {
      const found = await findBinaries({ signal, env, build: async () => join(root, 'built') });
      expect(found.kubectl).to.equal(join(root, 'second/kubectl'));
      expect(found.kubeApiserver).to.equal(join(root, 'built/kube-apiserver'));
      expect(found.etcd).to.equal(join(root, 'built/etcd'));
    });
  });

  it("lets no kubectl contact the user's cluster for its version", async () => {
    await withPrograms({}, async (root, env) => {
      const kubectl = join(root, 'first/kubectl');
      await script(kubectl, `test "$KUBECONFIG" = /dev/null && echo '"gitVersion": "v1.36.1"'`);
      const theirs = { ...env, KUBECONFIG: join(root, 'theirs') };
      const found = await findBinaries({ signal, env: theirs, build: async () => join(root, 'built') });
      expect(found.kubectl).to.equal(kubectl);
    });
  });
});
