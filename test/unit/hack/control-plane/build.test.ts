// Tests of the build of the control plane programs, with a fake `go` command.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { build } from '../../../../hack/control-plane/build.ts';
import { rejection } from '../../../support/rejection.ts';
import { machineWith } from '../../../support/scratch.ts';

describe('the build', () => {
  it('reports the compiler output and how to repeat it after a failure, and leaves nothing', async () => {
    const failing = 'echo "main.go:7: undefined: nothing" >&2; exit 1';
    await using machine = await machineWith({ go: `[ "$1" = env ] && echo go1.26.8 && exit 0\n${failing}` });
    const { path } = machine;
    const env = { ...machine.env, PATH: `${path}:/usr/bin:/bin` };
    const { signal } = new AbortController();
    const { message } = await rejection(build('control-plane', { env, signal, progress: () => undefined }));
    expect(message).to.match(/^building the control plane failed .*go build/);
    expect(message).to.include('main.go:7: undefined: nothing');
    expect(await readdir(join(path, 'cache', 'ks-apiserver'))).to.deep.equal([]);
  });
});
