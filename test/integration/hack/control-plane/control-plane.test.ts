// Tests of the failures of the control plane. Other integration tests start, pause, restart and compact it.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { startControlPlane } from '../../../../hack/control-plane/control-plane.ts';
import { DaemonError } from '../../../../hack/system/daemon.ts';
import { rejection } from '../../../support/rejection.ts';
import { scratchFolder } from '../../../support/scratch.ts';

const { signal } = new AbortController();

describe('a control plane', function () {
  this.timeout(180_000);

  it('reports a program that dies unexpectedly', async () => {
    await using scratch = await scratchFolder();
    const cp = await startControlPlane({ dir: scratch.path, signal, controllers: false });
    process.kill(cp.etcd.pid ?? 0, 'SIGKILL');
    const failure = await cp.failure;
    expect(failure).to.be.instanceOf(DaemonError);
    expect(failure.message).to.match(/^etcd was ended by SIGKILL; the end of its log .*etcd\.log:/);
    await cp.stop();
  });

  it('reports which program failed to start and why, keeps the logs and leaves nothing running', async () => {
    await using scratch = await scratchFolder();
    const starting = startControlPlane({
      dir: scratch.path,
      signal,
      extraApiserverFlags: ['--no-such-flag'],
    });
    const { message } = await rejection(starting);
    expect(message).to.match(/^kube-apiserver exited with code 1; the end of its log /);
    expect(message).to.include('unknown flag: --no-such-flag');
    expect(await readdir(join(scratch.path, 'logs'))).to.include('kube-apiserver.log');
    expect(await readdir(join(scratch.path, 'run'))).to.deep.equal([]);
  });
});
