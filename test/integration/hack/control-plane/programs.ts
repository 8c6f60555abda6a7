// Runs kubectl and other programs in tests, and returns their standard output.
import { type ExecFileException, execFile } from 'node:child_process';
import type { ControlPlane } from '../../../../hack/control-plane/control-plane.ts';

/** Runs kubectl as the administrator and returns its standard output. Rejects with its standard error. */
export function kubectl(cp: ControlPlane, ...args: string[]): Promise<string> {
  return run(cp.kubectl, ['--kubeconfig', cp.kubeconfig, ...args]);
}

export function run(command: string, args: readonly string[]): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  execFile(command, args, (error: ExecFileException | null, stdout, stderr) => {
    if (error === null) {
      resolve(stdout);
    } else {
      reject(new Error(stderr.trim() || error.message));
    }
  });
  return promise;
}
