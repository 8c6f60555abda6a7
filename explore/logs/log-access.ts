// Which logs the user may read, in words: log queries return only lines of namespaces with the permission
// `get pods/log`, and no error for the others.
import type { Client } from 'ks-apiserver-client';
import { type ComponentChildren, h } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { useExplore } from '../context.ts';
import { Notice } from '../ui/notice.ts';

/** Maximum number of namespaces whose permission is checked. */
const CHECKED = 20;
const PERMISSION = 'get pods/log';

type Access =
  | { readonly isEverywhere: true }
  | {
      readonly isEverywhere: false;
      readonly allowed: readonly string[];
      readonly denied: readonly string[];
      readonly isWhole: boolean;
    };

/** `namespaces`: those of the query. */
export function LogAccess({ namespaces }: { readonly namespaces: readonly string[] }): ComponentChildren {
  const { client } = useExplore();
  const [access, setAccess] = useState<Access>();
  const key = namespaces.join(',');
  useEffect(() => {
    const ended = new AbortController();
    setAccess(undefined);
    // Only an explanation: the server enforces the permissions, whether the reviews succeed or not.
    accessOf(client, namespaces, ended.signal).then(setAccess, () => undefined);
    return () => ended.abort();
  }, [key]);
  if (!access || access.isEverywhere) return null;
  const { allowed, denied, isWhole } = access;
  if (allowed.length === 0 && (denied.length > 0 || isWhole)) {
    const where = namespaces.length === 0 ? 'any namespace' : denied.join(', ');
    return h(Notice, { tone: 'warn' }, [
      'You need the permission ',
      h('code', {}, PERMISSION),
      ` to read logs, and do not have it in ${where}.`,
    ]);
  }
  const more = isWhole ? '' : ' and others';
  return h('p', { class: 'muted log-access' }, [
    'Lines of the namespaces in which you have the permission ',
    h('code', {}, PERMISSION),
    `: ${allowed.join(', ')}${more}.`,
    denied.length > 0 && namespaces.length > 0 && ` Not of ${denied.join(', ')}.`,
  ]);
}

async function accessOf(client: Client, chosen: readonly string[], signal: AbortSignal): Promise<Access> {
  if (await mayRead(client, '', signal)) return { isEverywhere: true };
  let names = chosen;
  let isWhole = true;
  if (chosen.length === 0) {
    const page = await client.lists.page(
      'namespaces',
      { limit: CHECKED, sortBy: 'name', ascending: true },
      { signal },
    );
    names = page.items.map(({ metadata: { name } }) => name);
    isWhole = page.totalItems <= names.length;
  }
  const checked = names.slice(0, CHECKED);
  const answers = await Promise.all(checked.map((name) => mayRead(client, name, signal)));
  return {
    isEverywhere: false,
    allowed: checked.filter((_, index) => answers[index]),
    denied: checked.filter((_, index) => !answers[index]),
    isWhole: isWhole && checked.length === names.length,
  };
}

/** `namespace`: empty for all namespaces. */
async function mayRead(client: Client, namespace: string, signal: AbortSignal): Promise<boolean> {
  const resourceAttributes = { namespace, verb: 'get', resource: 'pods', subresource: 'log' };
  const review = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectAccessReview',
    spec: { resourceAttributes },
  };
  const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
  const { status } = await client.kubernetes.create<{ status?: { allowed?: boolean } }>(path, review, {
    signal,
  });
  return status?.allowed === true;
}
