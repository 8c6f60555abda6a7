// The kinds of the cluster that lists can have.
import { type Client, objectPath, type ServedKind } from 'ks-apiserver-client';
import { platformName } from './page.ts';

/** By their resource such as `deployments.apps`. */
export type Kinds = ReadonlyMap<string, ServedKind>;

export interface Discovered {
  readonly kinds: Kinds;
  /** The API groups that the cluster serves. */
  readonly groups: ReadonlySet<string>;
}

export async function discover(client: Client, signal: AbortSignal): Promise<Discovered> {
  const served = await client.kubernetes.kinds({ signal });
  // The kinds of the server itself are in no list.
  const own = new Set(['resources', 'iam'].map((name) => `${name}.${platformName()}.io`));
  const listed = served.filter(
    ({ group, verbs }) => !own.has(group) && verbs.includes('list') && verbs.includes('watch'),
  );
  const kinds = new Map(listed.map((kind) => [kind.resource, kind]));
  return { kinds, groups: new Set(served.map(({ group }) => group)) };
}

/** Maximum number of kinds of custom resources, because the server starts to follow each kind that is counted or searched. */
const MAX_CUSTOM = 12;

export function customResources(kinds: Kinds): readonly string[] {
  const custom = [...kinds.values()].filter(({ isCustom }) => isCustom);
  return custom.slice(0, MAX_CUSTOM).map(({ resource }) => resource);
}

/** Path of an object at kube-apiserver. Throws a TypeError for a name that is not one segment. */
export function pathOfKind(
  { apiVersion, plural }: ServedKind,
  place: { readonly namespace: string | undefined; readonly name: string },
): string {
  return objectPath({ apiVersion, resource: plural, ...place });
}

/** `deployments.apps` as `Deployments`: the word of the resource, with the capitals of the kind. */
export function titleOf(resource: string, kinds: Kinds): string {
  const { kind, plural } = kinds.get(resource) ?? { kind: '', plural: resource };
  let same = 0;
  while (same < kind.length && kind[same]?.toLowerCase() === plural[same]) same++;
  return kind.slice(0, same) + plural.slice(same);
}
