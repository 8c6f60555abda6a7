// Artifact with the Debian packages of a real node and of its images. The packages are unpacked, not installed, so that
// the machine stays as it is.
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type BuildOptions, cacheFolder, hashOfInputs, provide } from '../artifacts/artifact.ts';
import { compile } from '../artifacts/compiler.ts';

const TITLE = 'cluster packages';

/** Programs of the node, with the libraries that Debian does not always install. */
const NODE = [
  'buildah',
  'containerd',
  'containernetworking-plugins',
  'nftables',
  'runc',
  'libassuan0',
  'libbsd0',
  'libdevmapper1.02.1',
  'libedit2',
  'libgpgme11',
  'libjansson4',
  'libmnl0',
  'libnftables1',
  'libnftnl11',
  'libseccomp2',
  'libsubid4',
  'libxtables12',
] as const;

/** Libraries of Node.js and a shell: the content of the stand-in for the base image. */
const IMAGE = ['busybox-static', 'libc6', 'libgcc-s1', 'libstdc++6', 'tzdata'] as const;

/** Folders of the unpacked packages. */
export interface Packages {
  readonly node: string;
  readonly image: string;
}

export async function providePackages(options: BuildOptions): Promise<Packages> {
  const hash = await hashOfInputs({ folder: import.meta.dirname, files: [], settings: [NODE, IMAGE] });
  const folder = await provide(
    {
      title: TITLE,
      name: `cluster-packages-${hash}`,
      make: async (staging) => {
        options.progress(`${TITLE}: downloading ${NODE.length + IMAGE.length} Debian packages (once)`);
        await unpack(NODE, join(staging, 'node'), options);
        await unpack(IMAGE, join(staging, 'image'), options);
      },
    },
    options,
  );
  return { node: join(folder, 'node'), image: join(folder, 'image') };
}

/** Environment in which the programs find each other. with-libraries.sh gives them their libraries. */
export function environmentOf({ node }: Packages, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const folders = ['usr/bin', 'usr/sbin', 'sbin'].map((folder) => join(node, folder));
  return { ...env, PATH: [...folders, env['PATH'] ?? ''].join(':') };
}

async function unpack(names: readonly string[], target: string, options: BuildOptions): Promise<void> {
  const downloads = `${target}-downloads`;
  await mkdir(downloads, { recursive: true });
  await download(names, downloads, options);
  for (const name of await readdir(downloads)) {
    await run('dpkg-deb', ['--extract', join(downloads, name), target], downloads, options);
  }
  await rm(downloads, { recursive: true });
}

/** Without package lists, or with old ones, updates lists of its own. */
async function download(names: readonly string[], cwd: string, options: BuildOptions): Promise<void> {
  try {
    await run('apt-get', ['--quiet', 'download', ...names], cwd, options);
  } catch {
    options.signal.throwIfAborted();
    const lists = join(cacheFolder(options.env), 'apt-lists');
    await mkdir(join(lists, 'partial'), { recursive: true });
    const apt = ['--quiet', '-o', `Dir::State::Lists=${lists}`];
    options.progress(`${TITLE}: updating package lists`);
    // A source that is unreachable may be one that is not needed.
    await run('apt-get', [...apt, 'update'], cwd, options).catch(() => options.signal.throwIfAborted());
    await run('apt-get', [...apt, 'download', ...names], cwd, options);
  }
}

async function run(
  command: string,
  args: readonly string[],
  cwd: string,
  options: BuildOptions,
): Promise<void> {
  await compile({ command, args, cwd, failure: `${TITLE}: ${command} failed` }, options);
}
