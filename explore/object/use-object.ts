// One object, which follows its changes: from a live list, or once from kube-apiserver if lists do not serve the kind or the caller
// may only get the object.
import { type KubernetesObject, type ListPage, StatusError } from 'ks-apiserver-client';
import { useEffect, useState } from 'preact/hooks';
import { useExplore } from '../context.ts';
import { pathOfKind } from '../kinds.ts';
import type { ObjectRoute } from '../route.ts';
import { type Live, useLive } from '../ui/use-live.ts';

export interface ShownObject extends Pick<Live<unknown>, 'error' | 'retry'> {
  /** The last state, also after a deletion. */
  readonly object: KubernetesObject | undefined;
  /** The status word; undefined if the object has none, or if lists do not serve the kind. */
  readonly status: string | undefined;
  readonly isDeleted: boolean;
  /** True if the object does not change on the page, because it is not in lists. */
  readonly isStill: boolean;
}

type State = Pick<ShownObject, 'status' | 'isDeleted'> & { readonly object: KubernetesObject };

export function useObject({ resource, namespace, name }: ObjectRoute): ShownObject {
  const { client, kinds } = useExplore();
  const query = { names: [name], columns: true, limit: 1, namespace };
  const [state, setState] = useState<State>();
  const live = useLive(
    (options) => client.lists.live(resource, query, options),
    JSON.stringify([resource, query]),
  );
  useEffect(() => {
    const { value } = live;
    if (value) setState((before) => stateOf(value, before));
  }, [live.value]);
  const isUnlisted = live.error instanceof StatusError && [403, 404, 503].includes(live.error.code);
  const got = useOnce({ resource, namespace, name }, isUnlisted);
  const isMissing = live.value !== undefined && !state;
  return {
    object: state?.object ?? got.object,
    status: state?.status,
    isDeleted: state?.isDeleted ?? false,
    isStill: isUnlisted,
    error: isMissing
      ? new Error(`${resource} "${name}" does not exist`)
      : isUnlisted
        ? (got.error ?? (kinds.has(resource) ? undefined : live.error))
        : live.error,
    retry: live.retry,
  };
}

function stateOf(page: ListPage, before: State | undefined): State | undefined {
  const [object] = page.items;
  if (!object) return before && { ...before, isDeleted: true };
  return { object, status: statusOf(page, 0), isDeleted: false };
}

/** The status word of an object of a page; undefined if it has none. */
export function statusOf({ columns, cells }: ListPage, index: number): string | undefined {
  const status = cells?.[index]?.[columns?.findIndex(({ format }) => format === 'status') ?? -1];
  return typeof status === 'string' ? status : undefined;
}

interface Got {
  readonly object?: KubernetesObject;
  readonly error?: Error;
}

/** Gets the object from kube-apiserver. */
function useOnce({ resource, namespace, name }: Omit<ObjectRoute, 'view' | 'query'>, isWanted: boolean): Got {
  const { client, kinds } = useExplore();
  const [got, setGot] = useState<Got>({});
  const kind = kinds.get(resource);
  useEffect(() => {
    if (!isWanted || !kind) return undefined;
    const closed = new AbortController();
    const get = async (): Promise<void> => {
      setGot({ object: await client.kubernetes.get(pathOfKind(kind, { namespace, name }), closed) });
    };
    get().catch((error: Error) => closed.signal.aborted || setGot({ error }));
    return () => closed.abort();
  }, [isWanted, kind]);
  return got;
}
