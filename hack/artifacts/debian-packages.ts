// Provides unpacked Debian packages. They are not installed, so that the machine stays as it is.
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type BuildOptions, cacheFolder, hashOfInputs, provide } from './artifact.ts';
import { compile } from './compiler.ts';

interface DebianPackages {
  /** Name in messages. */
  readonly title: string;
  /** Name of the folder in the cache, without the hash. */
  readonly name: string;
  /** Names of packages by the folder into which they are unpacked. */
  readonly folders: Readonly<Record<string, readonly string[]>>;
}

/** Returns the folder of the artifact, with its folders. */
export async function provideDebianPackages(
  { title, name, folders }: DebianPackages,
  options: BuildOptions,
): Promise<string> {
  const settings = Object.values(folders);
  const hash = await hashOfInputs({ folder: import.meta.dirname, files: [], settings });
  const make = async (staging: string): Promise<void> => {
    options.progress(`${title}: downloading ${settings.flat().length} Debian packages (once)`);
    for (const [folder, names] of Object.entries(folders))
      await unpackPackages(names, join(staging, folder), title, options);
  };
  return provide({ title, name: `${name}-${hash}`, make }, options);
}

/** Folder of the libraries of unpacked packages. */
export function librariesIn(root: string): string {
  return join(root, 'usr/lib', `${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu`);
}

async function unpackPackages(
  names: readonly string[],
  target: string,
  title: string,
  options: BuildOptions,
): Promise<void> {
  const run = (command: string, args: readonly string[], cwd: string): Promise<void> =>
    compile({ command, args, cwd, failure: `${title}: ${command} failed` }, options);
  const downloads = `${target}-downloads`;
  await mkdir(downloads, { recursive: true });
  await download(names, downloads, title, run, options);
  for (const name of await readdir(downloads)) {
    await run('dpkg-deb', ['--extract', join(downloads, name), target], downloads);
  }
  await rm(downloads, { recursive: true });
}

/** Without package lists, or with old ones, updates lists of its own. */
async function download(
  names: readonly string[],
  cwd: string,
  title: string,
  run: (command: string, args: readonly string[], cwd: string) => Promise<void>,
  options: BuildOptions,
): Promise<void> {
  try {
    await run('apt-get', ['--quiet', 'download', ...names], cwd);
  } catch {
    options.signal.throwIfAborted();
    const lists = join(cacheFolder(options.env), 'apt-lists');
    await mkdir(join(lists, 'partial'), { recursive: true });
    const apt = ['--quiet', '-o', `Dir::State::Lists=${lists}`];
    options.progress(`${title}: updating package lists`);
    // A source that is unreachable may be one that is not needed.
    await run('apt-get', [...apt, 'update'], cwd).catch(() => options.signal.throwIfAborted());
    await run('apt-get', [...apt, 'download', ...names], cwd);
  }
}
