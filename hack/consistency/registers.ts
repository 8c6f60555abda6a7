// Registers of the consistency test: ConfigMaps in one namespace, and the ServiceAccounts that write and read them.
import { record, recordIn, text } from '../../apis/reading/unknown-value.ts';
import type { Client } from '../control-plane/client.ts';
import type { Change } from './history.ts';

export type Caller = 'writer' | 'reader';

const NAMESPACE = 'consistency';
export const PATH = `/api/v1/namespaces/${NAMESPACE}/configmaps`;

/** Creates the namespace and two callers. Returns their tokens. */
export async function tokensOf(cluster: Client): Promise<Record<Caller, string>> {
  const create = (path: string, body: object) => cluster.expect(path, { method: 'POST', body }, [201]);
  await create('/api/v1/namespaces', { metadata: { name: NAMESPACE } });
  const account = async (name: Caller, role: string): Promise<string> => {
    const accounts = `/api/v1/namespaces/${NAMESPACE}/serviceaccounts`;
    await create(accounts, { metadata: { name } });
    await create(`/apis/rbac.authorization.k8s.io/v1/namespaces/${NAMESPACE}/rolebindings`, {
      metadata: { name },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
      subjects: [{ kind: 'ServiceAccount', name, namespace: NAMESPACE }],
    });
    const { body } = await create(`${accounts}/${name}/token`, { spec: { expirationSeconds: 7200 } });
    return text(recordIn(JSON.parse(body), 'status')['token']);
  };
  return { writer: await account('writer', 'edit'), reader: await account('reader', 'view') };
}

function metadataOf(object: unknown): Readonly<Record<string, unknown>> {
  return recordIn(object, 'metadata');
}

export function revisionOf(object: unknown): number {
  return Number(text(metadataOf(object)['resourceVersion']));
}

export function registerOf(object: unknown): number | undefined {
  const [, register] = /^register-(\d+)$/.exec(text(metadataOf(object)['name'])) ?? [];
  return register === undefined ? undefined : Number(register);
}

export function valueOf(object: unknown): number {
  return Number(text(recordIn(object, 'data')['value']));
}

export function changeOf(event: unknown): Change {
  const { type, object } = record(event);
  const value = type === 'DELETED' ? undefined : valueOf(object);
  return { type: text(type), revision: revisionOf(object), register: registerOf(object) ?? -1, value };
}
