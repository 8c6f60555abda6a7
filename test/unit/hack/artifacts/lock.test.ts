// Tests of the lock file for processes in different containers.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { withLock } from '../../../../hack/artifacts/lock.ts';
import { identify } from '../../../../hack/system/process-identity.ts';
import { rejection } from '../../../support/rejection.ts';
import { scratchFolder } from '../../../support/scratch.ts';

const { signal } = new AbortController();

function holder(process: unknown, host = hostname()): string {
  return JSON.stringify({ token: 'of another process', host, process });
}

describe('the lock', () => {
  it('is released when the work fails', async () => {
    await using scratch = await scratchFolder();
    const path = join(scratch.path, 'lock');
    const failing = withLock(path, { signal }, () => Promise.reject(new Error('no luck')));
    expect((await rejection(failing)).message).to.equal('no luck');
    expect(await withLock(path, { signal }, async () => 'mine')).to.equal('mine');
  });

  it('is taken over at once from an exited process', async () => {
    await using scratch = await scratchFolder();
    const path = join(scratch.path, 'lock');
    const child = spawn('sleep', ['30']);
    await once(child, 'spawn');
    const gone = identify(child.pid ?? 0);
    child.kill('SIGKILL');
    await once(child, 'exit');
    await writeFile(path, holder(gone));
    expect(await withLock(path, { signal }, async () => 'mine')).to.equal('mine');
  });

  it('is not taken from a running process; the wait reports the holder and ends with the signal', async () => {
    await using scratch = await scratchFolder();
    const path = join(scratch.path, 'lock');
    await writeFile(path, holder(identify(process.pid)));
    const abort = new AbortController();
    const reported: string[] = [];
    const waiting = (who: string): void => {
      reported.push(who);
      abort.abort(new Error('enough'));
    };
    const error = await rejection(withLock(path, { signal: abort.signal, waiting }, async () => 'mine'));
    expect(error.name === 'AbortError' || error.message === 'enough').to.equal(true);
    expect(reported).to.deep.equal([`process ${process.pid}`]);
  });
});
