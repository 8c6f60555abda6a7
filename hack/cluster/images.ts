// Archives of the images that a cluster imports at its start: the image of the server, and one with a shell.
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import packageManifest from '../../package.json' with { type: 'json' };
import { type BuildOptions, cacheFolder, hashOfInputs, provide } from '../artifacts/artifact.ts';
import { ImageStore } from './image-store.ts';
import type { Packages } from './packages.ts';

/** The tag in the manifests. */
const SERVER_IMAGE = `ks-apiserver:${packageManifest.version}`;
const CONTAINERFILE = 'hack/image/Containerfile';
/** Archives of other versions of the server are kept this long, in ms: another cluster may import one. */
const KEPT_MS = 60 * 60 * 1000;

export interface Images {
  readonly server: string;
  readonly busybox: string;
  /** Bytes of the uncompressed layers of the server's image. */
  readonly serverBytes: number;
  readonly packages: Packages;
}

export async function provideImages(root: string, options: BuildOptions): Promise<Images> {
  const store = await ImageStore.open(root, options);
  const files = ['hack/image/*', 'package*.json', '.npmrc', 'LICENSE', 'apis/**/*.*', 'server/**/*.*'];
  const settings = [store.folder, SERVER_IMAGE];
  const name = `cluster-image-${await hashOfInputs({ folder: root, files, settings })}`;
  const make = async (staging: string): Promise<void> => {
    options.progress(`image: building ${SERVER_IMAGE} from ${CONTAINERFILE}`);
    await store.build({ containerfile: join(root, CONTAINERFILE), context: root, tag: SERVER_IMAGE });
    await store.save(SERVER_IMAGE, join(staging, 'image.tar'));
  };
  const folder = await provide({ title: 'image', name, make }, options);
  await removeOthers(name, options);
  const server = join(folder, 'image.tar');
  const { size } = await stat(server);
  return { server, busybox: join(store.folder, 'busybox.tar'), serverBytes: size, packages: store.packages };
}

/** Archives are large, and each change of the server makes a new one. */
async function removeOthers(name: string, { env }: BuildOptions): Promise<void> {
  const cache = cacheFolder(env);
  for (const other of await readdir(cache)) {
    if (!/^cluster-image-[0-9a-f]+$/.test(other) || other === name) continue;
    const folder = join(cache, other);
    const age = Date.now() - (await stat(folder)).mtimeMs;
    if (age > KEPT_MS) await rm(folder, { recursive: true, force: true });
  }
}
