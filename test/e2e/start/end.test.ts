// Tests of early exits of `npm start`: failures, Ctrl-C and invalid arguments.
import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { listenOnLoopback } from '../../support/loopback.ts';
import { ClonedProject } from './clone.ts';
import { theirKubeconfig } from './their-kubeconfig.ts';

describe('the end of npm start', function () {
  this.timeout(300_000);
  const clone = new ClonedProject();

  it('leaves nothing running when it is terminated while kube-apiserver starts', async () => {
    const program = clone.start();
    await program.printed(/starting kube-apiserver/);
    program.signal('SIGTERM');
    expect(await program.end()).to.deep.equal({ code: 143, left: [] });
  });

  it('leaves nothing running when npm alone is killed while ks-apiserver starts', async () => {
    const program = clone.start();
    await program.printed(/starting ks-apiserver/);
    program.killNpm();
    await program.gone();
  });

  it("prints the end of the server's log when an existing cluster is unreachable, and exits with KS_START_PARENT", async () => {
    const parent = spawn('sleep', ['300']);
    const nobody = createServer();
    const port = await listenOnLoopback(nobody);
    nobody.close();
    const kubeconfig = join(clone.dir, 'unreachable.kubeconfig');
    await writeFile(kubeconfig, theirKubeconfig(`https://127.0.0.1:${port}`));
    const program = clone.start(['--kubeconfig', kubeconfig], { KS_START_PARENT: String(parent.pid) });
    await program.printed(/The server is not ready yet; its log \S.* ends with:\n(.*\n){0,4}.*ECONNREFUSED/);
    expect(program.output).not.to.include('health check failed');
    parent.kill('SIGKILL');
    await program.gone();
  });

  it('reports in one line that the kubeconfig is missing', async () => {
    const program = clone.start(['--kubeconfig', '/nowhere/config']);
    expect(await program.end()).to.deep.equal({ code: 1, left: [] });
    expect(program.output.trim().split('\n').at(-1)).to.equal('--kubeconfig /nowhere/config: no such file');
  });
});
