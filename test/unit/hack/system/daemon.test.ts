// Tests of child processes with a log file and a PID file.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { Daemon, type DaemonError, type DaemonSpec } from '../../../../hack/system/daemon.ts';
import { identify } from '../../../../hack/system/process-identity.ts';
import { rejection } from '../../../support/rejection.ts';
import { scratchFolder } from '../../../support/scratch.ts';

const { signal } = new AbortController();
const unexpected = (error: DaemonError): never => {
  throw error;
};

/** A shell program that is ready when its log contains `ready`. */
function specOf(dir: string, program: string, more: Partial<DaemonSpec> = {}): DaemonSpec {
  const logFile = join(dir, 'logs', 'program.log');
  return {
    name: 'program',
    command: '/bin/sh',
    args: ['-c', program],
    logFile,
    pidFile: join(dir, 'run', 'program.json'),
    ready: async () => (await readFile(logFile, 'utf8')).trimEnd().endsWith('ready'),
    ...more,
  };
}

/** The identity of a child process whose PID the program has written. */
async function childIn(dir: string): Promise<NonNullable<ReturnType<typeof identify>>> {
  const pid = /child (\d+)/.exec(await readFile(join(dir, 'logs', 'program.log'), 'utf8'))?.[1];
  const identity = identify(Number(pid));
  if (identity === undefined) {
    throw new Error('the child does not run');
  }
  return identity;
}

const WITH_CHILD = 'sleep 60 & echo child $!; echo ready; wait';

describe('a daemon', () => {
  it('that panics yields an error with the reason, regardless of long stack traces', async () => {
    await using scratch = await scratchFolder();
    const stack = 'i=0; while [ $i -lt 60 ]; do i=$((i+1)); echo "\tfile.go:$i"; done';
    const spec = specOf(scratch.path, `echo no space left on device; echo panic: no log; ${stack}; exit 2`);
    const error = await rejection(new Daemon(spec, unexpected).start(signal));
    expect(error.message).to.match(/:\nno space left on device\npanic: no log\n\tfile.go:1\n/);
    expect(error.message).not.to.include('file.go:60');
  });

  it('that is not ready in time yields an error and is killed with its children', async () => {
    await using scratch = await scratchFolder();
    const spec = specOf(scratch.path, WITH_CHILD, { ready: async () => false, readyTimeoutMs: 300 });
    const daemon = new Daemon(spec, unexpected);
    const failing = rejection(daemon.start(signal));
    const error = await failing;
    expect(error.message).to.match(/^program was not ready after 0 s; /);
    expect(daemon.pid).to.equal(undefined);
    expect((await rejection(childIn(scratch.path))).message).to.equal('the child does not run');
  });

  it('that ignores SIGTERM is killed after the timeout', async () => {
    await using scratch = await scratchFolder();
    const program = 'trap "" TERM; echo ready; while :; do sleep 60; done';
    const daemon = new Daemon(specOf(scratch.path, program, { stopTimeoutMs: 100 }), unexpected);
    await daemon.start(signal);
    await daemon.stop();
    expect(daemon.pid).to.equal(undefined);
  });

  it('is killed when the start is aborted, with the abort reason', async () => {
    await using scratch = await scratchFolder();
    const abort = new AbortController();
    let checks = 0;
    const ready = async (): Promise<boolean> => {
      if (++checks === 3) {
        abort.abort(new Error('enough'));
      }
      return false;
    };
    const daemon = new Daemon(specOf(scratch.path, WITH_CHILD, { ready }), unexpected);
    expect((await rejection(daemon.start(abort.signal))).message).to.equal('enough');
    expect(daemon.pid).to.equal(undefined);
  });
});
