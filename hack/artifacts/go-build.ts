// Builds Go programs into the build cache. The Go modules are part of this repository.
import { mkdtempDisposable, writeFile } from 'node:fs/promises';
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

export interface GoBuild {
  /** Name in messages, such as `control plane`. */
  readonly title: string;
  /** The folder of the module. */
  readonly module: string;
  readonly packages: readonly string[];
  /** Output file, or with a trailing slash the folder for one program per package. */
  readonly output: string;
  readonly flags: readonly string[];
  /** Files of other modules, such as test support, without which the programs are the same. No part of cache keys. */
  readonly omitted?: readonly { readonly module: string; readonly file: string }[];
}

/** Builds programs of a Go module of the repository, without cgo. */
export async function buildGo(build: GoBuild, { env, signal, progress }: BuildOptions): Promise<void> {
  const goEnv = {
    ...env,
    ...(await findGo(GO_VERSION, env, signal)),
    CGO_ENABLED: '0',
    // Those of the user apply to other modules.
    GOFLAGS: '',
    GOWORK: 'off',
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
      { env: goEnv, signal },
    );
  await using scratch = await mkdtempDisposable(join(tmpdir(), 'ks-go-build-'));
  await withElapsed(
    progress,
    () => `${build.title}: ${reached.describe()}`,
    async () => {
      const overlay = await overlayWithout(build, scratch.path, { env: goEnv, signal });
      const flags = [...build.flags, ...COMPILER_FLAGS, `-overlay=${overlay}`];
      await go(['list', ...flags, '-deps', '-f', LIST_STALE], reached.listed);
      await go(['build', ...flags, '-o', build.output], reached.compiled);
    },
  );
}

/** Writes the file that makes the `go` command ignore the omitted files, and returns its path. */
async function overlayWithout(
  { title, module, omitted = [] }: GoBuild,
  folder: string,
  options: Pick<BuildOptions, 'env' | 'signal'>,
): Promise<string> {
  const replaced: Record<string, string> = {};
  for (const { module: theirs, file } of omitted) {
    replaced[join(await downloadModule({ title, module: theirs, cwd: module }, options), file)] = '';
  }
  const overlay = join(folder, 'overlay.json');
  await writeFile(overlay, JSON.stringify({ Replace: replaced }));
  return overlay;
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
