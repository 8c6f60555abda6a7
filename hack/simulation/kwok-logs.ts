// The kind Logs of KWOK: an object names the log files of one pod. Other pods share those of kwok.yaml.
import type { Client } from '../control-plane/client.ts';

const GROUP = 'kwok.x-k8s.io';
const VERSION = 'v1alpha1';

export const LOGS = { apiVersion: `${GROUP}/${VERSION}`, kind: 'Logs' } as const;

/** Lets the role `view`, and so the server, read the objects: pages show all kinds of the cluster. */
const VIEW = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  metadata: {
    name: 'kwok-logs-view',
    labels: { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' },
  },
  rules: [{ apiGroups: [GROUP], resources: ['logs'], verbs: ['get', 'list', 'watch'] }],
};

/** Creates the CustomResourceDefinition, before KWOK starts to watch the objects. */
export async function installLogs(client: Client, signal: AbortSignal): Promise<void> {
  const schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const version = {
    name: VERSION,
    served: true,
    storage: true,
    schema: { openAPIV3Schema: { type: 'object', properties: { spec: schema } } },
  };
  const body = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `logs.${GROUP}` },
    spec: {
      group: GROUP,
      scope: 'Namespaced',
      names: { kind: LOGS.kind, listKind: 'LogsList', plural: 'logs', singular: 'logs' },
      versions: [version],
    },
  };
  const create = async (path: string, created: object): Promise<void> => {
    await client.expect(path, { method: 'POST', body: created, signal }, [201, 409]);
  };
  await create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', body);
  await create('/apis/rbac.authorization.k8s.io/v1/clusterroles', VIEW);
}
