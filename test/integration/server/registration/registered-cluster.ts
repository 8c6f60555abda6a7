// Starts a control plane and runs kubectl, for tests that apply the manifests of ks-apiserver.
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { record, recordIn, text } from '../../../../apis/reading/unknown-value.ts';
import { type ControlPlane, startControlPlane } from '../../../../hack/control-plane/control-plane.ts';

export const ROOT = join(import.meta.dirname, '../../../..');
export const API_SERVICE = 'v1alpha3.resources.platform.io';
/**
 * All APIServices of the server. The namespace controller cannot delete a namespace while one of them is unavailable.
 */
export const API_SERVICES = [API_SERVICE, 'v1alpha2.logging.platform.io'];
export const API_SERVICE_PATH = `/apis/apiregistration.k8s.io/v1/apiservices/${API_SERVICE}`;

const REVIEWS = '/apis/authorization.k8s.io/v1/subjectaccessreviews';

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
  /** Creates or corrects the objects, with server-side apply and without a process. */
  apply(manifests: string): Promise<void>;
  /** Whether kube-apiserver permits a request, such as `{ verb: 'list', resource: 'nodes' }`. */
  allows(user: { name: string; groups?: readonly string[] }, resourceAttributes: object): Promise<boolean>;
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
    apply: async (manifests) => {
      for (const document of parseAllDocuments(manifests)) {
        const body: unknown = document.toJS();
        const path = `${pathOf(record(body))}?fieldManager=installation&force=true`;
        const contentType = 'application/apply-patch+yaml';
        await controlPlane.client.expect(path, { method: 'PATCH', body, contentType }, [200, 201]);
      }
    },
    allows: async ({ name, groups }, resourceAttributes) => {
      const body = { spec: { user: name, groups, resourceAttributes } };
      const answer = await controlPlane.client.expect(REVIEWS, { method: 'POST', body }, [201]);
      return recordIn(JSON.parse(answer.body), 'status')['allowed'] === true;
    },
    stop: async () => {
      await controlPlane.stop();
      abort.abort();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

/** The path of an object. */
function pathOf(object: Readonly<Record<string, unknown>>): string {
  const { name, namespace } = record(object['metadata']);
  const version = text(object['apiVersion']);
  const plural = `${text(object['kind']).toLowerCase()}s`.replace(/ys$/, 'ies');
  const scope = namespace === undefined ? '' : `/namespaces/${text(namespace)}`;
  return `/${version.includes('/') ? 'apis' : 'api'}/${version}${scope}/${plural}/${text(name)}`;
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
