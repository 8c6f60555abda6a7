// One object, which follows its changes: from a live list, or once from kube-apiserver if lists do not serve the kind or the caller
// may only get the object.
import { fieldTerm, type KubernetesObject, type ListPage, StatusError, statusOf } from 'ks-apiserver-client';
import { useEffect, useState } from 'preact/hooks';
import { useExplore } from '../context.ts';
import { pathOfKind } from '../kinds.ts';
import type { ObjectRoute } from '../route.ts';
import { type Loaded, useLive, useLoaded } from '../ui/use-live.ts';

export interface ShownObject extends Pick<Loaded<unknown>, 'error' | 'retry'> {
  /** The last state, also after a deletion. */
  readonly object: KubernetesObject | undefined;
  /** The status word; undefined if the object has none, or if lists do not serve the kind. */
  readonly status: string | undefined;
  readonly isDeleted: boolean;
  /** True if the object does not change on the page, because it is not in lists. */
  readonly isStill: boolean;
}

export function useObject({ resource, namespace, name }: ObjectRoute): ShownObject {
  const { client, kinds } = useExplore();
  const kind = kinds.get(resource);
  const query = { fieldSelector: fieldTerm('metadata.name', name), columns: true, limit: 1, namespace };
  const [last, setLast] = useState<ListPage>();
  const { value, error, connection, retry } = useLive(
    (options) => client.lists.live(resource, query, options),
    JSON.stringify([resource, query]),
  );
  useEffect(() => {
    if (value && value.totalItems > 0) setLast(value);
  }, [value]);
  // A server that cannot list the kind is asked again and again.
  const isUnlisted = (connection?.state === 'waiting' ? connection.error : error) instanceof StatusError;
  const got = useLoaded(
    async (signal) =>
      isUnlisted && kind
        ? await client.kubernetes.get(pathOfKind(kind, { namespace, name }), { signal })
        : undefined,
    [isUnlisted, kind],
  );
  const isMissing = value?.totalItems === 0;
  const failure = isUnlisted && kind ? got.error : error;
  return {
    object: last?.items[0] ?? got.value,
    status: last && statusOf(last, 0),
    isDeleted: isMissing && last !== undefined,
    isStill: !last && got.value !== undefined,
    error: isMissing && !last ? new Error(`${resource} "${name}" does not exist`) : failure,
    retry,
  };
}
