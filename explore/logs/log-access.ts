// The namespaces whose logs the user may read: log queries return only lines of namespaces with the permission
// `get pods/log`, and no error for the others.
import type { Client } from 'ks-apiserver-client';
import { type ComponentChildren, h } from 'preact';
import { useExplore } from '../context.ts';
import { notice } from '../ui/notice.ts';
import { useLoaded } from '../ui/use-live.ts';

/** Maximum number of namespaces whose permission is checked. */
const CHECKED = 20;
const PERMISSION = h('code', {}, 'get pods/log');

/** `namespaces`: those of the query. */
export function LogAccess({ namespaces }: { readonly namespaces: readonly string[] }): ComponentChildren {
  const { client } = useExplore();
  const load = (signal: AbortSignal) => explanationOf(client, namespaces, signal);
  // Only an explanation: the server enforces the permissions, whether the reviews succeed or not.
  return useLoaded(load, [namespaces.join()]).value;
}

async function explanationOf(client: Client, chosen: readonly string[], signal: AbortSignal) {
  const mayRead = (namespace?: string): Promise<boolean> =>
    client.kubernetes.can({ verb: 'get', resource: 'pods', subresource: 'log', namespace }, { signal });
  if (await mayRead()) return null;
  const query = { limit: CHECKED + 1, sortBy: 'name', ascending: true };
  const page = chosen.length === 0 && (await client.lists.page('namespaces', query, { signal }));
  const names = page ? page.items.map(({ metadata }) => metadata.name) : chosen;
  const checked = names.slice(0, CHECKED);
  const reviews = await Promise.all(checked.map(mayRead));
  const allowed = checked.filter((_, index) => reviews[index]);
  const isWhole = checked.length === names.length;
  if (allowed.length === 0 && isWhole) {
    const where = chosen.length === 0 ? 'any namespace' : checked.join(', ');
    const rest = ` to read logs, and do not have it in ${where}.`;
    return notice('warn', ['You need the permission ', PERMISSION, rest]);
  }
  return h('p', { class: 'muted' }, [
    'Lines of the namespaces in which you have the permission ',
    PERMISSION,
    `: ${allowed.join(', ')}${isWhole ? '' : ' and others'}.`,
  ]);
}
