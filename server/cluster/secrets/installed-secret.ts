// Fills the Secrets that the manifests install empty. The server is not allowed to create Secrets: with that permission
// it could obtain a token of any ServiceAccount in its namespace.
import { StatusError } from '../../../apis/meta/v1/errors.ts';
import { record, recordIn } from '../../../apis/reading/unknown-value.ts';
import type { ClusterClient } from '../connection/client.ts';

export interface SecretLocation {
  readonly namespace: string;
  readonly name: string;
}

interface SecretContent {
  readonly annotations?: Readonly<Record<string, string>>;
  readonly data: Readonly<Record<string, string>>;
}

/** Returns true for a Secret without data, and for undefined. */
export function isEmptySecret(secret: unknown): boolean {
  return Object.keys(recordIn(secret, 'data')).length === 0;
}

/**
 * Adds `content` to the Secret `present`, and keeps its other data. Without a Secret, tries to create it, which needs a
 * permission that the manifests do not grant. Throws Conflict or AlreadyExists if another replica was faster.
 */
export async function fillSecret(
  client: Pick<ClusterClient, 'json'>,
  { namespace, name }: SecretLocation,
  present: unknown,
  { annotations = {}, data }: SecretContent,
  signal: AbortSignal,
): Promise<unknown> {
  const path = `/api/v1/namespaces/${namespace}/secrets`;
  const head = { apiVersion: 'v1', kind: 'Secret' };
  if (present !== undefined) {
    const metadata = recordIn(present, 'metadata');
    const merged = { ...metadata, annotations: { ...recordIn(metadata, 'annotations'), ...annotations } };
    const content = { metadata: merged, data: { ...recordIn(present, 'data'), ...data } };
    const json = { ...record(present), ...head, ...content };
    return client.json({ method: 'PUT', path: `${path}/${name}`, json, signal });
  }
  const metadata = { name, namespace, annotations };
  const json = { ...head, type: 'Opaque', metadata, data };
  return client.json({ method: 'POST', path, json, signal }).catch((cause: unknown) => {
    if (!(cause instanceof StatusError && cause.code === 403)) throw cause;
    const cure = `kubectl --namespace=${namespace} create secret generic ${name}`;
    throw new Error(`the Secret does not exist: apply manifests/access/secrets.yaml, or run ${cure}`, {
      cause,
    });
  });
}
