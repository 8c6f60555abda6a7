// Which logs the user may read, in words: log queries return only lines of namespaces with the permission
// `get pods/log`, and no error for the others.
import type { Client } from 'ks-apiserver-client';
import { type ComponentChildren, h } from 'preact';
import { useExplore } from '../context.ts';
import { Notice } from '../ui/notice.ts';
import { useLoaded } from '../ui/use-live.ts';

/** Maximum number of namespaces whose permission is checked. */
const CHECKED = 20;
const PERMISSION = h('code', {}, 'get pods/log');

interface Access {
  readonly allowed: readonly string[];
  readonly denied: readonly string[];
  /** Whether all namespaces of the query have been checked. */
  readonly isWhole: boolean;
}

/** `namespaces`: those of the query. */
export function LogAccess({ namespaces }: { readonly namespaces: readonly string[] }): ComponentChildren {
  const { client } = useExplore();
  // Only an explanation: the server enforces the permissions, whether the reviews succeed or not.
  const { value: access } = useLoaded((signal) => accessOf(client, namespaces, signal), [namespaces.join()]);
  if (!access) return null;
  const { allowed, denied, isWhole } = access;
  if (allowed.length === 0 && (denied.length > 0 || isWhole)) {
    const where = namespaces.length === 0 ? 'any namespace' : denied.join(', ');
    const rest = ` to read logs, and do not have it in ${where}.`;
    return h(Notice, { tone: 'warn' }, ['You need the permission ', PERMISSION, rest]);
  }
  return h('p', { class: 'muted' }, [
    'Lines of the namespaces in which you have the permission ',
    PERMISSION,
    `: ${allowed.join(', ')}${isWhole ? '' : ' and others'}.`,
    denied.length > 0 && namespaces.length > 0 && ` Not of ${denied.join(', ')}.`,
  ]);
}

/** Undefined: all namespaces. */
async function accessOf(
  client: Client,
  chosen: readonly string[],
  signal: AbortSignal,
): Promise<Access | undefined> {
  if (await mayRead(client, '', signal)) return undefined;
  let names = chosen;
  let isWhole = true;
  if (chosen.length === 0) {
    const query = { limit: CHECKED, sortBy: 'name', ascending: true } as const;
    const page = await client.lists.page('namespaces', query, { signal });
    names = page.items.map(({ metadata: { name } }) => name);
    isWhole = page.totalItems <= names.length;
  }
  const checked = names.slice(0, CHECKED);
  const answers = await Promise.all(checked.map((name) => mayRead(client, name, signal)));
  return {
    allowed: checked.filter((_, index) => answers[index]),
    denied: checked.filter((_, index) => !answers[index]),
    isWhole: isWhole && checked.length === names.length,
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
