// Tests of the build of the control plane programs, with a fake `go` command.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { BuildOptions } from '../../../../hack/artifacts/artifact.ts';
import { build } from '../../../../hack/control-plane/build.ts';
import { rejection } from '../../../support/rejection.ts';
import { scratchFolder, script } from '../../../support/scratch.ts';

/** Runs `use` with a fake `go` command in PATH. `building`: the shell script that replaces `go build`. */
async function withGo(
  building: string,
  use: (root: string, options: BuildOptions) => Promise<void>,
): Promise<void> {
  await using scratch = await scratchFolder();
  await script(
    join(scratch.path, 'bin', 'go'),
    [
      // Prints a version, counts its builds in the file `builds`, and sets $out to the path of the output.
      '[ "$1" = env ] && echo go1.26.8 && exit 0',
      `echo build >> ${scratch.path}/builds`,
      'while [ "$1" != -o ]; do shift; done; out=$2',
      building,
    ].join('\n'),
  );
  const env = {
    HOME: scratch.path,
    XDG_CACHE_HOME: join(scratch.path, 'cache'),
    PATH: `${join(scratch.path, 'bin')}:/usr/bin:/bin`,
  };
  await use(scratch.path, { env, signal: new AbortController().signal, progress: () => undefined });
}

describe('the build', () => {
  it('reports the compiler output and how to repeat it after a failure, and leaves nothing', async () => {
    await withGo('echo "main.go:7: undefined: nothing" >&2; exit 1', async (root, options) => {
      const { message } = await rejection(build(options));
      expect(message).to.match(/^building the control plane failed .*go build/);
      expect(message).to.include('main.go:7: undefined: nothing');
      expect(await readdir(join(root, 'cache', 'ks-apiserver'))).to.deep.equal([]);
    });
  });
});
