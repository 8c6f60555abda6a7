// The namespaces whose logs the user may read: log queries return only lines of namespaces with the permission
// `get pods/log`, and no error for the others.
import type { Client } from 'ks-apiserver-client';
import { type ComponentChildren, h } from 'preact';
import { useExplore } from '../context.ts';
import { Notice } from '../ui/notice.ts';
import { useLoaded } from '../ui/use-live.ts';

/** Maximum number of namespaces whose permission is checked. */
const CHECKED = 20;
const PERMISSION = h('code', {}, 'get pods/log');

/** `namespaces`: those of the query. */
export function LogAccess({ namespaces }: { readonly namespaces: readonly string[] }): ComponentChildren {
  const { client } = useExplore();
  const load = (signal: AbortSignal) => accessOf(client, namespaces, signal);
  // Only an explanation: the server enforces the permissions, whether the reviews succeed or not.
  const { value: access } = useLoaded(load, [namespaces.join()]);
  if (!access) return null;
  const { allowed, denied, more } = access;
  if (allowed.length === 0 && !more) {
    const where = namespaces.length === 0 ? 'any namespace' : denied.join(', ');
    const rest = ` to read logs, and do not have it in ${where}.`;
    return h(Notice, { tone: 'warn' }, ['You need the permission ', PERMISSION, rest]);
  }
  return h('p', { class: 'muted' }, [
    'Lines of the namespaces in which you have the permission ',
    PERMISSION,
    `: ${allowed.join(', ')}${more ? ' and others' : ''}.`,
    namespaces.length > 0 && denied.length > 0 && ` Not of ${denied.join(', ')}.`,
  ]);
}

/** Undefined: all namespaces. */
async function accessOf(client: Client, chosen: readonly string[], signal: AbortSignal) {
  if (await mayRead(client, '', signal)) return undefined;
  const query = { limit: CHECKED + 1, sortBy: 'name', ascending: true };
  const names =
    chosen.length > 0
      ? chosen
      : (await client.lists.page('namespaces', query, { signal })).items.map(({ metadata }) => metadata.name);
  const checked = names.slice(0, CHECKED);
  const reviews = await Promise.all(checked.map((name) => mayRead(client, name, signal)));
  return {
    allowed: checked.filter((_, index) => reviews[index]),
    denied: checked.filter((_, index) => !reviews[index]),
    /** Whether other namespaces have not been checked. */
    more: names.length > CHECKED,
  };
}

/** `namespace`: empty for all namespaces. */
async function mayRead(client: Client, namespace: string, signal: AbortSignal): Promise<boolean> {
  const resourceAttributes = { namespace, verb: 'get', resource: 'pods', subresource: 'log' };
  const apiVersion = 'authorization.k8s.io/v1';
  const { status } = await client.kubernetes.create<{ status?: { allowed?: boolean } }>(
    `/apis/${apiVersion}/selfsubjectaccessreviews`,
    { apiVersion, kind: 'SelfSubjectAccessReview', spec: { resourceAttributes } },
    { signal },
  );
  return status?.allowed === true;
}
