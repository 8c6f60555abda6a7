// Tests of the failures of the control plane. Other integration tests start, pause, restart and compact it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect } from 'chai';
import { startControlPlane } from '../../../../hack/control-plane/control-plane.ts';
import { DaemonError } from '../../../../hack/system/daemon.ts';
import { identify, isRunning } from '../../../../hack/system/process-identity.ts';
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

  it('dies with the process that started it, even after SIGKILL', async () => {
    await using scratch = await scratchFolder();
    const module = import.meta.resolve('../../../../hack/control-plane/control-plane.ts');
    const program = `
      const { startControlPlane } = await import(${JSON.stringify(module)});
      const cp = await startControlPlane({ dir: ${JSON.stringify(scratch.path)}, signal: new AbortController().signal });
      console.log(JSON.stringify([cp.etcd.pid, cp.apiserver.pid, cp.controllerManager.pid]));`;
    const parent = spawn(process.execPath, ['--input-type=module', '-e', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line]: string[] = await once(createInterface({ input: parent.stdout }), 'line');
    const pids: number[] = JSON.parse(line ?? '[]');
    const processes = pids.flatMap((pid) => identify(pid) ?? []);
    expect(processes).to.have.length(3);
    parent.kill('SIGKILL');
    await once(parent, 'exit');

    // The next owner of the folder kills the remaining processes.
    const next = await startControlPlane({ dir: scratch.path, signal });
    expect(processes.filter(isRunning)).to.deep.equal([]);
    await next.stop();
  });
});
