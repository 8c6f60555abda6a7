// Builds Go programs into the build cache. The Go modules are part of this repository.
import { copyFile, mkdir, mkdtempDisposable, readdir, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withElapsed } from '../terminal/progress.ts';
import { shellWord } from '../terminal/shell-word.ts';
import { type BuildOptions, hashOfInputs, provide } from './artifact.ts';
import { compile } from './compiler.ts';
import { GoProgress, LIST_STALE, requiredModules } from './go-progress.ts';
import { downloadModule } from './module-files.ts';
import { findGo } from './toolchain.ts';

const GO_VERSION = '1.26.0';

/** Flags for a reproducible build that does not depend on the folder; each module adds its linker flags. */
export const GO_FLAGS = ['-v', '-trimpath', '-mod=readonly', '-buildvcs=false'] as const;

/**
 * Flags of the compiler for a faster build: no debug information, which the linker removes (-w), and no garbage collection
 * below 512 MB, which only the largest packages reach. No part of cache keys: the programs are the same.
 */
const COMPILER_FLAGS = ['-gcflags=all=-dwarf=false -d=gcstart=512'] as const;

interface GoBuild {
  /** Name in messages, such as `control plane`. */
  readonly title: string;
  /** The folder of the module. */
  readonly module: string;
  readonly packages: readonly string[];
  /** Output file, or with a trailing slash the folder for one program per package. */
  readonly output: string;
  readonly flags: readonly string[];
  /** A file of another module, such as test support, without which the programs are the same. No part of cache keys. */
  readonly omitted?: { readonly module: string; readonly file: string };
}

/** Builds programs of a Go module of the repository, without cgo. */
export async function buildGo(build: GoBuild, options: BuildOptions): Promise<void> {
  const { env, signal, progress } = options;
  const goOptions = {
    env: {
      ...env,
      ...(await findGo(build.title, GO_VERSION, options)),
      CGO_ENABLED: '0',
      // Those of the user apply to other modules.
      GOFLAGS: '',
      GOWORK: 'off',
    },
    signal,
  };
  const reached = new GoProgress(await requiredModules(build.module));
  const go = (args: readonly string[], line: (text: string) => boolean): Promise<void> =>
    compile(
      {
        command: 'go',
        args: [...args, ...build.packages],
        cwd: build.module,
        failure: `building the ${build.title} failed`,
        alone: `(cd ${shellWord(build.module)} && go build ${build.packages.join(' ')}); what it downloads comes from: go env GOPROXY`,
        line,
      },
      goOptions,
    );
  await using scratch = await mkdtempDisposable(join(tmpdir(), 'ks-go-build-'));
  await withElapsed(
    progress,
    () => `${build.title}: ${reached.describe()}`,
    async () => {
      const flags = [...build.flags, ...COMPILER_FLAGS];
      if (build.omitted) flags.push(await withoutFile(build.omitted, build, scratch.path, goOptions));
      await go(['list', ...flags, '-deps', '-f', LIST_STALE], reached.listed);
      await go(['build', ...flags, '-o', build.output], reached.compiled);
    },
  );
}

/** Returns the flag that selects a go.mod which replaces the other module by links to its files, without the omitted one. */
async function withoutFile(
  { module, file }: NonNullable<GoBuild['omitted']>,
  { title, module: main }: GoBuild,
  scratch: string,
  options: Pick<BuildOptions, 'env' | 'signal'>,
): Promise<string> {
  const theirs = await downloadModule({ title, module, cwd: main }, options);
  const links = join(scratch, 'module');
  await linkAllExcept(file.split('/'), theirs, links);
  for (const name of ['go.mod', 'go.sum']) await copyFile(join(main, name), join(scratch, name));
  const args = ['mod', 'edit', `-replace=${module}=${links}`, 'go.mod'];
  await compile({ command: 'go', args, cwd: scratch, failure: `preparing the ${title} failed` }, options);
  return `-modfile=${join(scratch, 'go.mod')}`;
}

async function linkAllExcept([name, ...rest]: readonly string[], from: string, to: string): Promise<void> {
  await mkdir(to);
  for (const entry of await readdir(from)) {
    const [source, target] = [join(from, entry), join(to, entry)];
    if (entry !== name) await symlink(source, target);
    else if (rest.length > 0) await linkAllExcept(rest, source, target);
  }
}

/** Returns the folder with the programs of a Go module, and builds them if the cache lacks them. */
export async function provideGo(
  {
    name,
    title,
    module,
    packages,
    tags,
  }: Pick<GoBuild, 'title' | 'module' | 'packages'> & { readonly name: string; readonly tags?: string },
  options: BuildOptions,
): Promise<string> {
  const flags = [...GO_FLAGS, '-ldflags=-s -w', ...(tags === undefined ? [] : [`-tags=${tags}`])];
  const files = ['go.mod', 'go.sum', '**/*.go'];
  const hash = await hashOfInputs({ folder: module, files, settings: [flags] });
  const make = (staging: string): Promise<void> =>
    buildGo({ title, module, packages, output: `${staging}/`, flags }, options);
  return provide({ title, name: `${name}-${hash}`, make }, options);
}
