// What all views share: the client with the token of the user, the kinds of the cluster, and the current route.
import { type Client, type Connection, objectPath, type ServedKind } from 'ks-apiserver-client';
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { platformName } from './page.ts';
import type { Changes, Route } from './route.ts';

/** By their resource such as `deployments.apps`. */
export type Kinds = ReadonlyMap<string, ServedKind>;

export interface Explore {
  readonly client: Client;
  /** The kinds that lists can have. Empty until discovery has responded. */
  readonly kinds: Kinds;
  /** The API groups that the cluster serves. */
  readonly groups: ReadonlySet<string>;
  readonly route: Route;
  /** Shows the same view with another query. `replace`: without a new entry in the history. */
  readonly change: (changes: Changes, options?: { readonly replace?: boolean }) => void;
  /** The option `onConnection` of every stream: the frame shows a lost connection, and when the next attempt is. */
  readonly onConnection: (connection: Connection) => void;
}

export const ExploreContext = createContext<Explore | undefined>(undefined);

export function useExplore(): Explore {
  const explore = useContext(ExploreContext);
  if (!explore) throw new Error('a view is outside of ExploreContext');
  return explore;
}

export async function discover(client: Client, signal: AbortSignal) {
  const served = await client.kubernetes.kinds({ signal });
  // The kinds of the server itself are in no list.
  const own = new Set(['resources', 'iam'].map((name) => `${name}.${platformName()}.io`));
  const listed = served.filter(
    ({ group, verbs }) => !own.has(group) && verbs.includes('list') && verbs.includes('watch'),
  );
  const kinds = new Map(listed.map((kind) => [kind.resource, kind]));
  return { kinds, groups: new Set(served.map(({ group }) => group)) };
}

/** `Deployments` for `deployments.apps`. */
export function titleOf(resource: string, kinds: Kinds): string {
  return kinds.get(resource)?.title ?? resource;
}

/** Path of an object at kube-apiserver. Throws a TypeError for a name that is not one segment. */
export function pathOfKind(
  { apiVersion, plural }: ServedKind,
  place: { readonly namespace: string | undefined; readonly name: string },
): string {
  return objectPath({ apiVersion, resource: plural, ...place });
}

/** The kinds that the overview counts, and the search finds, besides custom resources. */
export const COUNTED_KINDS = [
  'pods',
  'deployments.apps',
  'statefulsets.apps',
  'daemonsets.apps',
  'jobs.batch',
  'persistentvolumeclaims',
  'nodes',
  'namespaces',
];
/** Maximum number of kinds of custom resources, because the server starts to follow each kind that is counted or searched. */
const MAX_CUSTOM = 12;

export function customResources(kinds: Kinds): readonly string[] {
  const custom = [...kinds.values()].filter(({ isCustom }) => isCustom);
  return custom.slice(0, MAX_CUSTOM).map(({ resource }) => resource);
}
