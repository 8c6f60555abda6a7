import { recordIn } from '../../../apis/reading/unknown-value.ts';
import type { ClusterClient } from '../connection/client.ts';
import { VersionRegressionError } from './reflector-failure.ts';

export interface HeldState {
  /** For instance `/api/v1/nodes`. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** The resourceVersion up to which we hold everything. */
  readonly ours: string;
  readonly signal: AbortSignal;
}

/**
 * A watch from a resourceVersion that the cluster has not reached is silent, not refused. So before resuming, ask
 * where the cluster is: if it is behind us, it was restored from a backup and all that we hold is another history.
 * Throws VersionRegressionError then.
 */
export async function checkHistory(
  client: ClusterClient,
  { path, query, ours, signal }: HeldState,
): Promise<void> {
  const parameters = new URLSearchParams({ ...query, limit: '1' });
  const list = await client.json({
    path: `${path}?${parameters.toString()}`,
    headers: {
      accept: 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json',
    },
    signal,
  });
  const theirs = recordIn(list, 'metadata')['resourceVersion'];
  if (typeof theirs === 'string' && BigInt(theirs) < BigInt(ours))
    throw new VersionRegressionError(ours, theirs);
}
