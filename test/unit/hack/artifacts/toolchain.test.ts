// Tests of the lookup of the `go` command.
import { join } from 'node:path';
import { expect } from 'chai';
import { findGo } from '../../../../hack/artifacts/toolchain.ts';
import { rejection } from '../../../support/rejection.ts';
import { scratchFolder, script } from '../../../support/scratch.ts';

const { signal } = new AbortController();

async function withGo(version: string): Promise<NodeJS.ProcessEnv> {
  await using scratch = await scratchFolder();
  await script(join(scratch.path, 'go'), `echo ${version}`);
  return await findGo('1.26.0', { PATH: `${scratch.path}:/usr/bin:/bin` }, signal);
}

describe('the Go that builds the control plane', () => {
  it('is used if it is new enough', async () => {
    expect(await withGo('go1.26.0')).to.deep.equal({});
    expect(await withGo('go1.27rc1')).to.deep.equal({});
  });

  it('downloads the toolchain if it is older, regardless of its settings', async () => {
    expect(await withGo('go1.21.3')).to.deep.equal({ GOTOOLCHAIN: 'auto' });
  });

  it('is rejected below 1.21, with an error in one line that says what to do', async () => {
    const { message } = await rejection(withGo('go1.19.8'));
    expect(message).to.match(/^Go 1\.19\.8 is too old .*install Go 1\.21 or newer/);
    expect(message).not.to.include('\n');
  });

  it('is required in one line if it is missing', async () => {
    await using scratch = await scratchFolder();
    const { message } = await rejection(findGo('1.26.0', { PATH: scratch.path }, signal));
    expect(message).to.match(/install Go 1\.21 or newer/);
    expect(message).not.to.include('\n');
    // KWOK comes only from our own build, so KUBEBUILDER_ASSETS does not avoid it.
    expect(message).not.to.include('KUBEBUILDER_ASSETS');
  });
});
