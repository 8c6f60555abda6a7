// What the cluster itself says of the kinds that ours are made from, so that `kubectl explain` shows the very
// documentation of the cluster's version.
import { record, text } from '../../../apis/reading/unknown-value.ts';
import type { ClusterClient } from '../../cluster/connection/client.ts';

export interface SourceDocument {
  /** Changes whenever the document does. */
  readonly url: string;
  readonly document: unknown;
}

/** The OpenAPI v3 document of a group and version such as `v1` or `apps/v1`; undefined when it is still `known`. */
export async function fetchSource(
  client: ClusterClient,
  apiVersion: string,
  known: string | undefined,
  signal: AbortSignal,
): Promise<SourceDocument | undefined> {
  const index = record(await client.json({ path: '/openapi/v3', signal }));
  const key = apiVersion.includes('/') ? `apis/${apiVersion}` : `api/${apiVersion}`;
  const url = text(record(record(index['paths'])[key])['serverRelativeURL']);
  if (url === '') throw new Error(`the cluster does not describe ${apiVersion}`);
  if (url === known) return undefined;
  return { url, document: await client.json({ path: url, signal, timeoutMs: 30_000 }) };
}
