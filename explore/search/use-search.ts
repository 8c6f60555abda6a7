// The results of a search: the kinds whose names match at once, and the objects when the server has responded.
import type { Client, SearchResult, ServedKind } from 'ks-apiserver-client';
import { useMemo } from 'preact/hooks';
import { useExplore } from '../context.ts';
import { customResources, type Kinds, titleOf } from '../kinds.ts';
import { listRoute, objectRoute, type Route } from '../route.ts';
import { useLoaded } from '../ui/use-live.ts';

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
/** The server searches the kinds that it follows. It starts to follow these. */
const KINDS = [
  'pods',
  'deployments.apps',
  'statefulsets.apps',
  'daemonsets.apps',
  'jobs.batch',
  'cronjobs.batch',
  'services',
  'ingresses.networking.k8s.io',
  'configmaps',
  'persistentvolumeclaims',
  'nodes',
  'namespaces',
];

export function useSearch(text: string): Results {
  const { client, kinds } = useExplore();
  const ready = useMemo(() => followKinds(client, kinds), [client, kinds]);
  const q = text.trim();
  const search = async (signal: AbortSignal): Promise<SearchResult | undefined> => {
    await new Promise((resolve) => setTimeout(resolve, DEBOUNCE_MS));
    await ready;
    return q === '' || signal.aborted ? undefined : await client.search(q, { limit: MATCHES, signal });
  };
  const { value: result, isCurrent, error } = useLoaded(search, [ready, q]);
  const groups = q === '' ? [] : [...kindsNamed(q, kinds), ...objectsIn(result, q, kinds)];
  return { groups, searched: result?.kinds.length ?? 0, isBusy: !isCurrent, error };
}

/** Each kind of custom resources alone, because the server may have no permission for some. */
async function followKinds(client: Client, kinds: Kinds): Promise<void> {
  const named = [KINDS, ...customResources(kinds).map((resource) => [resource])];
  await Promise.all(
    // The text does not matter.
    named.map((names) => client.search('explore', { kinds: names, limit: 1 }).catch(() => undefined)),
  );
}

/** The kinds with this short name first, then those with the shortest names. */
function kindsNamed(q: string, kinds: Kinds): ResultGroup[] {
  const word = q.toLowerCase();
  const rankOf = ({ plural, shortNames }: ServedKind): number =>
    shortNames.includes(word) ? 0 : plural.length;
  const options = [...kinds.values()]
    .filter(({ plural, shortNames }) => plural.includes(word) || shortNames.includes(word))
    .sort((a, b) => rankOf(a) - rankOf(b))
    .slice(0, KIND_MATCHES)
    .map(({ resource, group }) => ({
      key: resource,
      label: titleOf(resource, kinds),
      detail: group,
      to: listRoute(resource),
    }));
  return options.length === 0 ? [] : [{ title: 'Lists', options }];
}

function objectsIn(result: SearchResult | undefined, q: string, kinds: Kinds): ResultGroup[] {
  // Events repeat the names of all other objects.
  const isEvent = ({ kind }: { readonly kind: string }): number => Number(kind === 'Event');
  const groups = (result?.groups ?? []).toSorted((a, b) => isEvent(a) - isEvent(b));
  return groups.map(({ resource, totalItems, items }) => {
    const title = titleOf(resource, kinds);
    const options: Option[] = items.map(({ metadata, status }) => ({
      key: metadata.uid,
      label: metadata.name,
      detail: metadata.namespace ?? '',
      status,
      to: objectRoute(resource, metadata),
    }));
    if (totalItems > items.length) {
      const label = `All ${totalItems.toLocaleString()} ${title} with “${q}”`;
      options.push({ key: `all ${resource}`, label, detail: '', to: listRoute(resource, { q }) });
    }
    return { title, options };
  });
}
