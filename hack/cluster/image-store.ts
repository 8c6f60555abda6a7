// Builds images of the server from a Containerfile, in a storage that keeps the layers of earlier builds.
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type BuildOptions, exists } from '../artifacts/artifact.ts';
import { withLock } from '../artifacts/lock.ts';
import { Buildah } from './buildah.ts';
import { type Packages, providePackages } from './packages.ts';
import { provideStandIns } from './stand-in.ts';

/** CAs that this machine trusts, perhaps with those of a proxy. */
const CA_BUNDLE = '/etc/ssl/certs/ca-certificates.crt';

interface ImageSource {
  readonly containerfile: string;
  /** The clone. */
  readonly context: string;
  readonly tag: string;
  /** Further options of `buildah build`. */
  readonly options?: readonly string[];
}

export class ImageStore {
  readonly packages: Packages;
  /** Contains the storage of buildah. Its name has a hash of the base image. */
  readonly folder: string;
  readonly #options: BuildOptions;
  readonly #buildah: Buildah;

  private constructor(packages: Packages, folder: string, options: BuildOptions) {
    this.packages = packages;
    this.folder = folder;
    this.#options = options;
    this.#buildah = new Buildah(packages, folder, options);
  }

  static async open(root: string, options: BuildOptions): Promise<ImageStore> {
    const packages = await providePackages(options);
    return new ImageStore(packages, await provideStandIns(root, packages, options), options);
  }

  async build({ containerfile, context, tag, options = [] }: ImageSource): Promise<void> {
    const settings = await mkdtemp(join(tmpdir(), 'ks-image-'));
    try {
      const npmrc = join(settings, 'npmrc');
      const hasBundle = await exists(CA_BUNDLE);
      await writeFile(npmrc, await this.#npmConfiguration(context, hasBundle));
      const common = {
        containerfile,
        context,
        volumes: [`${npmrc}:/usr/local/etc/npmrc`, ...(hasBundle ? [`${CA_BUNDLE}:${CA_BUNDLE}`] : [])],
      };
      await this.#alone(async () => {
        // The tag keeps the layer of the dependencies.
        await this.#buildah.build({ ...common, tag: 'localhost/dependencies', target: 'dependencies' });
        await this.#buildah.build({ ...common, tag, options });
        await this.#buildah.prune();
      });
    } finally {
      await rm(settings, { recursive: true });
    }
  }

  async save(tag: string, archive: string): Promise<void> {
    await this.#buildah.save(tag, archive);
  }

  /** The registry and the CAs that npm of this machine uses. */
  async #npmConfiguration(cwd: string, hasBundle: boolean): Promise<string> {
    const { env, signal } = this.#options;
    const { stdout } = await promisify(execFile)('npm', ['config', 'get', 'registry'], { cwd, env, signal });
    return `registry=${stdout.trim()}\n${hasBundle ? `cafile=${CA_BUNDLE}\n` : ''}`;
  }

  /** A prune of another process would remove the layers of this build. */
  #alone(work: () => Promise<void>): Promise<void> {
    const { signal, progress } = this.#options;
    const waiting = (holder: string): void => progress(`image: waiting for the build of ${holder}`);
    return withLock(`${this.folder}.build.lock`, { signal, waiting }, work);
  }
}
