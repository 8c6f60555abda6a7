// Provides files of Go modules that are no programs, such as CustomResourceDefinitions. The checksum database of Go verifies
// the download.
import { copyFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { type BuildOptions, provide } from './artifact.ts';
import { compile } from './compiler.ts';

interface ModuleFiles {
  /** Name in messages. */
  readonly title: string;
  /** Name of the folder in the cache, without the version. */
  readonly name: string;
  /** Path of the module and its version. */
  readonly module: string;
  readonly files: readonly string[];
}

/** Returns a folder with copies of the files. */
export function provideModuleFiles(
  { title, name, module, files }: ModuleFiles,
  options: BuildOptions,
): Promise<string> {
  const make = async (staging: string): Promise<void> => {
    const env = { ...options.env, GOFLAGS: '', GOWORK: 'off' };
    const folder = await downloadModule({ title, module, cwd: staging }, { ...options, env });
    for (const file of files) await copyFile(join(folder, file), join(staging, basename(file)));
  };
  return provide({ title, name: `${name}-${module.split('@')[1]}`, make }, options);
}

/** Returns the folder of a module in the module cache of Go. Without a version, `cwd` is a module that requires it. */
export async function downloadModule(
  { title, module, cwd }: Pick<ModuleFiles, 'title' | 'module'> & { readonly cwd: string },
  options: Pick<BuildOptions, 'env' | 'signal'>,
): Promise<string> {
  let folder = '';
  await compile(
    {
      command: 'go',
      args: ['mod', 'download', '-json', module],
      cwd,
      failure: `downloading the ${title} failed`,
      line: (line) => {
        folder = /^\s*"Dir": "(.+)",?$/.exec(line)?.[1] ?? folder;
        return false;
      },
    },
    options,
  );
  return folder;
}
