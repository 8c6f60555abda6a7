// The results of a search: the kinds whose names match at once, and the objects when the server has responded.
import type { Client, SearchResult } from 'ks-apiserver-client';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { useExplore } from '../context.ts';
import { type Kind, titleOf } from '../kinds.ts';
import { listRoute, objectRoute, type Route } from '../route.ts';

interface Option {
  readonly key: string;
  readonly label: string;
  readonly detail: string;
  readonly status?: string | undefined;
  readonly to: Route;
}

interface ResultGroup {
  readonly title: string;
  readonly options: readonly Option[];
}

export interface Results {
  readonly groups: readonly ResultGroup[];
  /** Number of the kinds that the server has searched. */
  readonly searched: number;
  readonly isBusy: boolean;
  readonly error: Error | undefined;
}

/** Pause of the typing before a request, in ms. */
const DEBOUNCE_MS = 150;
/** Maximum number of matches of a kind. */
const MATCHES = 5;
const KIND_MATCHES = 4;
/** The server searches the kinds that it follows. It starts to follow these, and so many kinds of custom resources. */
const KINDS = [
  ...['pods', 'deployments.apps', 'statefulsets.apps', 'daemonsets.apps', 'jobs.batch', 'cronjobs.batch'],
  ...['services', 'ingresses.networking.k8s.io', 'configmaps', 'persistentvolumeclaims'],
  ...['nodes', 'namespaces'],
];
const CUSTOM_KINDS = 12;

export function useSearch(text: string): Results {
  const { client, kinds } = useExplore();
  const [result, setResult] = useState<SearchResult>();
  const [found, setFound] = useState('');
  const [error, setError] = useState<Error>();
  const ready = useMemo(() => followKinds(client, kinds), [client, kinds]);
  const q = text.trim();
  useEffect(() => {
    setError(undefined);
    if (q === '') return undefined;
    const end = new AbortController();
    const { signal } = end;
    const search = async (): Promise<void> => {
      await ready;
      if (signal.aborted) return;
      setResult(await client.search(q, { limit: MATCHES, signal }));
      setFound(q);
    };
    const timer = setTimeout(() => {
      search().catch((failure: Error) => !signal.aborted && setError(failure));
    }, DEBOUNCE_MS);
    return () => {
      clearTimeout(timer);
      end.abort();
    };
  }, [client, ready, q]);
  const groups = useMemo(
    () => (q === '' ? [] : [...kindsNamed(q, kinds), ...objectsIn(result, found, kinds)]),
    [q, found, result, kinds],
  );
  return { groups, searched: result?.kinds.length ?? 0, isBusy: q !== found, error };
}

/** Each kind of custom resources alone, because the server may have no permission for some. */
async function followKinds(client: Client, kinds: ReadonlyMap<string, Kind>): Promise<void> {
  const custom = [...kinds.values()].filter(({ isCustom }) => isCustom).slice(0, CUSTOM_KINDS);
  const named = [KINDS, ...custom.map(({ resource }) => [resource])];
  await Promise.all(
    // The text does not matter.
    named.map((names) => client.search('explore', { kinds: names, limit: 1 }).catch(() => undefined)),
  );
}

function kindsNamed(q: string, kinds: ReadonlyMap<string, Kind>): ResultGroup[] {
  const word = q.toLowerCase();
  const matches = [...kinds.values()]
    .map((kind) => ({ kind, rank: rankOf(kind, word) }))
    .filter(({ rank }) => rank < Number.POSITIVE_INFINITY)
    .sort((a, b) => a.rank - b.rank)
    .slice(0, KIND_MATCHES)
    .map(({ kind }) => ({
      key: kind.resource,
      label: titleOf(kind.resource, kinds),
      detail: kind.group,
      to: listRoute(kind.resource),
    }));
  return matches.length === 0 ? [] : [{ title: 'Lists', options: matches }];
}

/** Custom resources follow those of Kubernetes. */
function rankOf({ plural, kind, shortNames, isCustom }: Kind, word: string): number {
  const later = isCustom ? 0.5 : 0;
  if (shortNames.includes(word) || plural === word || kind.toLowerCase() === word) return later;
  if (plural.startsWith(word)) return 1 + later;
  return plural.includes(word) ? 2 + later : Number.POSITIVE_INFINITY;
}

function objectsIn(
  result: SearchResult | undefined,
  q: string,
  kinds: ReadonlyMap<string, Kind>,
): ResultGroup[] {
  // Events repeat the names of all other objects.
  const isEvent = ({ kind }: { readonly kind: string }): number => Number(kind === 'Event');
  const groups = (result?.groups ?? []).toSorted((a, b) => isEvent(a) - isEvent(b));
  return groups.map(({ resource, totalItems, items }) => {
    const title = titleOf(resource, kinds);
    const objects = items.map(({ metadata: { name, namespace, uid }, status }) => ({
      key: uid,
      label: name,
      detail: namespace ?? '',
      status,
      to: objectRoute(resource, { namespace, name }),
    }));
    const all: Option = {
      key: `all ${resource}`,
      label: `All ${totalItems.toLocaleString()} ${title} with “${q}”`,
      detail: '',
      to: listRoute(resource, { q }),
    };
    return { title, options: totalItems > items.length ? [...objects, all] : objects };
  });
}
