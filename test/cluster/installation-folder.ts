// The operator's folder of the documents: a kustomization beside a clone of the repository.
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Cluster } from '../../hack/cluster/cluster.ts';
import packageManifest from '../../package.json' with { type: 'json' };
import { script } from '../support/scratch.ts';
import { ROOT } from './shared-cluster.ts';

/** Replaces REGISTRY in the documents. */
const REGISTRY = 'registry.example.com/platform';
export const VERSION = packageManifest.version;

export class InstallationFolder implements AsyncDisposable {
  readonly path: string;
  readonly #cluster: Cluster;

  private constructor(path: string, cluster: Cluster) {
    this.path = path;
    this.#cluster = cluster;
  }

  static async create(cluster: Cluster): Promise<InstallationFolder> {
    const folder = new InstallationFolder(await mkdtemp(join(tmpdir(), 'installation-')), cluster);
    const clone = join(folder.path, 'ks-apiserver');
    await mkdir(clone);
    for (const name of await readdir(ROOT)) {
      if (name !== '.git' && name !== 'manifests') await symlink(join(ROOT, name), join(clone, name));
    }
    await folder.checkOut(VERSION);
    const program = join(ROOT, 'hack/cluster/docker.ts');
    for (const name of ['docker', 'buildah']) {
      await script(join(folder.path, 'bin', name), `exec '${process.execPath}' '${program}' "$@"`);
    }
    return folder;
  }

  /** Changes the clone to another version, whose manifests differ in the tag of the image. */
  async checkOut(version: string): Promise<void> {
    const manifests = join(this.path, 'ks-apiserver/manifests');
    await rm(manifests, { recursive: true, force: true });
    await cp(join(ROOT, 'manifests'), manifests, { recursive: true });
    const deployment = join(manifests, 'base/deployment.yaml');
    const text = await readFile(deployment, 'utf8');
    await writeFile(deployment, text.replace(`ks-apiserver:${VERSION}`, `ks-apiserver:${version}`));
  }

  async write(name: string, content: string): Promise<void> {
    await writeFile(join(this.path, name), content.replaceAll('REGISTRY', REGISTRY));
  }

  /**
   * Runs shell commands in this folder, in the network namespace of the node, where no port is in use; `inClone`: in the
   * clone, on the host. A failing command ends them.
   */
  async run(commands: string, { inClone = false } = {}): Promise<string> {
    const { env, pid } = this.#cluster;
    const bash = ['bash', '-euo', 'pipefail', '-c', commands.replaceAll('REGISTRY', REGISTRY)];
    const onNode = ['nsenter', `--target=${pid}`, '--net'];
    return this.#cluster.run([...(inClone ? [] : onNode), ...bash], {
      cwd: inClone ? ROOT : this.path,
      env: { PATH: `${join(this.path, 'bin')}:${env['PATH'] ?? ''}`, KS_CLUSTER_PID: String(pid) },
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.path, { recursive: true });
  }
}
