// Checks before a watch resumes that the cluster still has the history of the sink.
import { recordIn } from '../../../apis/reading/unknown-value.ts';
import type { ClusterClient } from '../connection/client.ts';
import { VersionRegressionError } from './reflector-retry.ts';
import { isComparable, isNewer } from './resource-version.ts';

interface SinkState {
  /** For instance `/api/v1/nodes`. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** The resourceVersion of the sink. */
  readonly ours: string;
  readonly signal: AbortSignal;
}

/**
 * Returns the cluster's resourceVersion. Throws VersionRegressionError if the cluster's resourceVersion is lower than the sink's. This happens after a
 * restore from a backup, which has a different history. A resume needs this check, because kube-apiserver accepts a
 * watch from a future resourceVersion and sends no events.
 */
export async function checkHistory(
  client: ClusterClient,
  { path, query, ours, signal }: SinkState,
): Promise<string> {
  const parameters = new URLSearchParams({ ...query, limit: '1' });
  const list = await client.json({
    path: `${path}?${parameters.toString()}`,
    headers: {
      accept: 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json',
    },
    signal,
  });
  const theirs = recordIn(list, 'metadata')['resourceVersion'];
  if (!isComparable(theirs)) return ours;
  if (isNewer(ours, theirs)) throw new VersionRegressionError(ours, theirs);
  return theirs;
}
