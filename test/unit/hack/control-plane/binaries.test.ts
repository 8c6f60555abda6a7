// Tests of the lookup of the control plane programs.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { findBinaries } from '../../../../hack/control-plane/binaries.ts';
import { builtFolder } from '../../../../hack/control-plane/build.ts';
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
  it('prefers KUBEBUILDER_ASSETS to PATH, and PATH to a build, for each program by itself', async () => {
    const folders = {
      assets: { 'kube-apiserver': 'Kubernetes v1.36.1' },
      first: { 'kube-apiserver': 'Kubernetes v1.36.3', etcd: 'etcd Version: 3.5.21' },
    };
    await withPrograms(folders, async (root, env) => {
      const found = await findBinaries({ signal, env, build: async () => join(root, 'built') });
      expect(found).to.include({
        kubeApiserver: join(root, 'assets/kube-apiserver'),
        etcd: join(root, 'first/etcd'),
        kubectl: join(root, 'built/kubectl'),
        kubeControllerManager: join(root, 'built/kube-controller-manager'),
      });
    });
  });

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

  it('uses KWOK only from our own build, together with its stages', async () => {
    await withPrograms({ first: { kwok: 'kwok version v0.8.0' } }, async (root, env) => {
      const found = await findBinaries({ signal, env, build: async () => join(root, 'built') });
      expect(found).to.include({
        kwok: join(root, 'built/kwok'),
        kwokStages: join(root, 'built/kwok-stages'),
      });
    });
  });

  it('builds once for all missing programs, and not if the cache has them', async () => {
    await withPrograms({}, async (root, env) => {
      let builds = 0;
      const build = async (): Promise<string> => {
        builds++;
        return join(root, 'built');
      };
      await findBinaries({ signal, env, build });
      expect(builds).to.equal(1);

      const cached = await builtFolder(env);
      await mkdir(cached, { recursive: true });
      for (const name of [
        'etcd',
        'kube-apiserver',
        'kube-controller-manager',
        'kubectl',
        'kwok',
        'kwok-stages',
      ]) {
        await script(join(cached, name), 'exit 1');
      }
      const found = await findBinaries({ signal, env, build });
      expect(builds).to.equal(1);
      expect(found.etcd).to.equal(join(cached, 'etcd'));
    });
  });
});
