// Starts a control plane and runs kubectl, for tests that apply the manifests of ks-apiserver.
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ControlPlane, startControlPlane } from '../../../../hack/control-plane/control-plane.ts';

export const ROOT = join(import.meta.dirname, '../../../..');
export const API_SERVICE = 'v1alpha3.resources.platform.io';
/**
 * All APIServices of the server. The namespace controller cannot delete a namespace while one of them is unavailable.
 */
export const API_SERVICES = [API_SERVICE, 'v1alpha2.logging.platform.io'];
export const API_SERVICE_PATH = `/apis/apiregistration.k8s.io/v1/apiservices/${API_SERVICE}`;

/** The ServiceAccount of the manifests, so that the server has exactly its permissions. */
export const SERVER_USER = {
  name: 'system:serviceaccount:platform-system:ks-apiserver',
  groups: ['system:serviceaccounts', 'system:serviceaccounts:platform-system', 'system:authenticated'],
};

/** A control plane for one test file, with kubectl. */
export interface RegisteredCluster {
  readonly controlPlane: ControlPlane;
  /** Runs kubectl and returns its standard output. If it fails, rejects with its standard error and output. */
  kubectl(args: readonly string[], input?: string): Promise<string>;
  stop(): Promise<void>;
}

export async function startCluster(): Promise<RegisteredCluster> {
  const dir = await mkdtemp(join(tmpdir(), 'registration-'));
  const abort = new AbortController();
  const controlPlane = await startControlPlane({ dir, signal: abort.signal });
  return {
    controlPlane,
    kubectl: (args, input) =>
      run(
        controlPlane.kubectl,
        // A separate discovery cache, because other clusters may have used this port before.
        ['--kubeconfig', controlPlane.kubeconfig, '--cache-dir', join(dir, 'kubectl'), ...args],
        input,
      ),
    stop: async () => {
      await controlPlane.stop();
      abort.abort();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

function run(command: string, args: readonly string[], input?: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const child = execFile(command, args, { cwd: ROOT, maxBuffer: 16 << 20 }, (error, stdout, stderr) => {
    if (error) reject(new Error(`${args.join(' ')}: ${stderr || error.message}\n${stdout}`));
    else resolve(stdout);
  });
  child.stdin?.end(input ?? '');
  return promise;
}
