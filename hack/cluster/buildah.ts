// Runs buildah on a storage folder of its own. Its mounts are in a mount namespace, so that they end with it.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { BuildOptions } from '../artifacts/artifact.ts';
import { compile } from '../artifacts/compiler.ts';
import { environmentOf, type Packages } from './packages.ts';

interface ImageBuild {
  readonly containerfile: string;
  /** Folder that COPY refers to. */
  readonly context: string;
  readonly tag: string;
  /** Stage of the Containerfile; the last one by default. */
  readonly target?: string;
  /** Files of the machine that RUN sees, `FROM:TO`. */
  readonly volumes?: readonly string[];
  /** Further options of `buildah build`. */
  readonly options?: readonly string[];
}

export class Buildah {
  readonly #packages: Packages;
  readonly #folder: string;
  readonly #options: BuildOptions;

  constructor(packages: Packages, folder: string, options: BuildOptions) {
    this.#packages = packages;
    this.#folder = folder;
    this.#options = options;
  }

  /** Uses layers of earlier builds. */
  async build({
    containerfile,
    context,
    tag,
    target,
    volumes = [],
    options = [],
  }: ImageBuild): Promise<void> {
    await this.#run('bud', [
      '--layers',
      '--isolation=chroot',
      '--pull-never',
      '--network=host',
      `--file=${containerfile}`,
      `--tag=${tag}`,
      ...(target === undefined ? [] : [`--target=${target}`]),
      ...volumes.map((volume) => `--volume=${volume}:ro`),
      ...options,
      context,
    ]);
  }

  async tag(image: string, tag: string): Promise<void> {
    await this.#run('tag', [image, tag]);
  }

  /** Writes an uncompressed archive, which containerd imports. */
  async save(tag: string, archive: string): Promise<void> {
    await this.#run('push', [tag, `docker-archive:${archive}:${tag}`]);
  }

  /** Removes the layers of images whose tag has moved on. */
  async prune(): Promise<void> {
    await this.#run('rmi', ['--prune']);
  }

  async #run(command: string, args: readonly string[]): Promise<void> {
    const { env, signal, progress } = this.#options;
    const configuration = join(this.#folder, 'configuration');
    const policy = join(configuration, 'policy.json');
    const registries = join(configuration, 'registries.conf');
    const storage = join(configuration, 'storage.conf');
    await mkdir(configuration, { recursive: true });
    await writeFile(policy, '{"default": [{"type": "insecureAcceptAnything"}]}');
    await writeFile(registries, 'unqualified-search-registries = ["docker.io"]\n');
    await writeFile(
      storage,
      [
        '[storage]',
        'driver = "overlay"',
        `graphroot = ${JSON.stringify(join(this.#folder, 'storage'))}`,
        `runroot = ${JSON.stringify(join(this.#folder, 'run'))}`,
      ].join('\n'),
    );
    const checksOrigin = command === 'bud' || command === 'push';
    await compile(
      {
        command: 'unshare',
        args: [
          '--mount',
          'sh',
          join(import.meta.dirname, 'with-libraries.sh'),
          this.#packages.node,
          'buildah',
          command,
          ...(checksOrigin ? [`--signature-policy=${policy}`] : []),
          ...args,
        ],
        cwd: this.#folder,
        failure: `image: buildah ${command} failed`,
        alone: 'npm run cluster',
        line: (line) => {
          progress(`image: ${line}`, true);
          return false;
        },
      },
      {
        signal,
        env: {
          ...environmentOf(this.#packages, env),
          CONTAINERS_CONF: '/dev/null',
          CONTAINERS_REGISTRIES_CONF: registries,
          CONTAINERS_STORAGE_CONF: storage,
        },
      },
    );
  }
}
