// Tests of the lock on the folder of a control plane.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { claimFolder } from '../../../../hack/system/owner.ts';
import { identify, isRunning, type ProcessIdentity } from '../../../../hack/system/process-identity.ts';
import { rejection } from '../../../support/rejection.ts';
import { scratchFolder } from '../../../support/scratch.ts';

async function orphan(): Promise<{ identity: ProcessIdentity; ended: Promise<unknown> }> {
  const child = spawn('sleep', ['60'], { detached: true });
  await once(child, 'spawn');
  const identity = identify(child.pid ?? 0);
  if (identity === undefined) {
    throw new Error('sleep does not run');
  }
  return { identity, ended: once(child, 'exit') };
}

describe('the owner of a folder', () => {
  it('is exclusive', async () => {
    await using scratch = await scratchFolder();
    const release = await claimFolder(scratch.path);
    const { message } = await rejection(claimFolder(scratch.path));
    expect(message).to.match(new RegExp(`is used by process ${process.pid}: stop that process first`));
    await release();
    await (await claimFolder(scratch.path))();
  });

  it('kills the programs of an owner that was killed', async () => {
    await using scratch = await scratchFolder();
    const run = join(scratch.path, 'run');
    await mkdir(run);
    const [owner, program] = [await orphan(), await orphan()];
    process.kill(owner.identity.pid, 'SIGKILL');
    await owner.ended;
    await writeFile(join(run, 'owner.json'), JSON.stringify(owner.identity));
    await writeFile(join(run, 'etcd.json'), JSON.stringify({ name: 'etcd', ...program.identity }));
    const release = await claimFolder(scratch.path);
    expect(isRunning(program.identity)).to.equal(false);
    expect(await readdir(run)).to.deep.equal(['owner.json']);
    await release();
  });

  it('does not kill a process that reuses the PID', async () => {
    await using scratch = await scratchFolder();
    const run = join(scratch.path, 'run');
    await mkdir(run);
    const other = await orphan();
    const stale = { name: 'etcd', pid: other.identity.pid, startedAt: 'another time' };
    await writeFile(join(run, 'etcd.json'), JSON.stringify(stale));
    await claimFolder(scratch.path);
    expect(isRunning(other.identity)).to.equal(true);
    process.kill(other.identity.pid, 'SIGKILL');
    await other.ended;
  });
});
