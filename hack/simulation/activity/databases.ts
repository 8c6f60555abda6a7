// A custom resource with printer columns: databases whose phase and connections change. No operator runs.
import type { Client } from '../../control-plane/client.ts';
import type { Random } from '../../log-data/random.ts';
import { until } from '../../system/until.ts';

const GROUP = 'data.example.com';
const APPLY = 'application/apply-patch+yaml';
const MANAGER = 'fieldManager=ks-apiserver-dev&force=true';

const DATABASES = [
  { namespace: 'shop', name: 'catalog', engine: 'postgres', replicas: 3 },
  { namespace: 'shop', name: 'cart-sessions', engine: 'redis', replicas: 2 },
  { namespace: 'payments', name: 'ledger', engine: 'postgres', replicas: 3 },
  { namespace: 'payments', name: 'invoices', engine: 'mysql', replicas: 1 },
] as const;

const PHASES = ['Running', 'Running', 'Running', 'BackingUp', 'FailingOver'] as const;

const column = (name: string, jsonPath: string, type = 'string'): object => ({ name, jsonPath, type });

const DEFINITION = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `databases.${GROUP}` },
  spec: {
    group: GROUP,
    scope: 'Namespaced',
    names: { kind: 'Database', listKind: 'DatabaseList', plural: 'databases', singular: 'database' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        additionalPrinterColumns: [
          column('Engine', '.spec.engine'),
          column('Replicas', '.spec.replicas', 'integer'),
          column('Phase', '.status.phase'),
          column('Connections', '.status.connections', 'integer'),
          column('Last-Backup', '.status.lastBackup', 'date'),
          column('Age', '.metadata.creationTimestamp', 'date'),
        ],
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                properties: { engine: { type: 'string' }, replicas: { type: 'integer' } },
              },
              status: {
                type: 'object',
                properties: {
                  phase: { type: 'string' },
                  connections: { type: 'integer' },
                  lastBackup: { type: 'string', format: 'date-time' },
                },
              },
            },
          },
        },
      },
    ],
  },
} as const;

/** Lets the role `view`, and so the server, read the databases. */
const VIEW = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  metadata: {
    name: 'databases-view',
    labels: { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' },
  },
  rules: [{ apiGroups: [GROUP], resources: ['databases'], verbs: ['get', 'list', 'watch'] }],
};

/** Creates the kind and its objects, or sets them again. */
export async function createDatabases(client: Client, random: Random, signal: AbortSignal): Promise<void> {
  await apply(
    client,
    '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/databases.data.example.com',
    DEFINITION,
    signal,
  );
  await apply(client, '/apis/rbac.authorization.k8s.io/v1/clusterroles/databases-view', VIEW, signal);
  const isServed = async (bound: AbortSignal): Promise<boolean> =>
    (await client.send(`/apis/${GROUP}/v1/databases?limit=1`, { signal: bound })).status === 200;
  await until(isServed, { signal });
  for (const { namespace, name, engine, replicas } of DATABASES) {
    const spec = { engine, replicas };
    const body = {
      apiVersion: `${GROUP}/v1`,
      kind: 'Database',
      metadata: { name, namespace },
      spec,
    };
    await apply(client, pathOf({ namespace, name }), body, signal);
    await setStatus(client, { namespace, name }, 'Running', random, signal);
  }
}

/** Changes the status of one database. */
export function changeDatabase(client: Client, random: Random, signal: AbortSignal): Promise<void> {
  return setStatus(client, random.pick(DATABASES), random.pick(PHASES), random, signal);
}

/** A database that a user has deleted stays deleted. */
async function setStatus(
  client: Client,
  database: { readonly namespace: string; readonly name: string },
  phase: (typeof PHASES)[number],
  random: Random,
  signal: AbortSignal,
): Promise<void> {
  const status = {
    phase,
    connections: 20 + random.below(180),
    ...(phase === 'BackingUp' ? { lastBackup: new Date().toISOString() } : {}),
  };
  const contentType = 'application/merge-patch+json';
  const request = { method: 'PATCH', body: { status }, contentType, signal } as const;
  await client.expect(`${pathOf(database)}/status`, request, [200, 404]);
}

function pathOf({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
  return `/apis/${GROUP}/v1/namespaces/${namespace}/databases/${name}`;
}

async function apply(client: Client, path: string, body: object, signal: AbortSignal): Promise<void> {
  const request = { method: 'PATCH', body, contentType: APPLY, signal } as const;
  await client.expect(`${path}?${MANAGER}`, request, [200, 201]);
}
