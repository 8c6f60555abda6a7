// Fills the aggregated ClusterRoles, such as `view`, in a control plane without controllers.
import { isDeepStrictEqual } from 'node:util';
import { array, record, recordIn, text } from '../../apis/reading/unknown-value.ts';
import type { Client } from '../control-plane/client.ts';

const CLUSTER_ROLES = '/apis/rbac.authorization.k8s.io/v1/clusterroles';

interface ClusterRole {
  readonly name: string;
  readonly labels: Readonly<Record<string, unknown>>;
  readonly rules: readonly unknown[];
  /** `matchLabels` of the selectors; undefined for a role that is not aggregated. */
  readonly selectors: readonly Readonly<Record<string, unknown>>[] | undefined;
}

/** Repeats until nothing changes, because aggregated roles aggregate others: `admin` contains `edit`. */
export async function aggregateRoles(client: Client, signal: AbortSignal): Promise<void> {
  for (;;) {
    const roles = array(record(await client.get(CLUSTER_ROLES, signal))['items']).map(clusterRole);
    const changed = roles.flatMap(({ name, rules, selectors }) => {
      if (selectors === undefined) return [];
      const sources = roles.filter((role) => role.name !== name && selectors.some(matches(role)));
      const wanted = sources.flatMap((source) => source.rules);
      return isDeepStrictEqual(wanted, rules) ? [] : [{ name, rules: wanted }];
    });
    if (changed.length === 0) return;
    for (const { name, rules } of changed) {
      const contentType = 'application/merge-patch+json';
      const patch = { method: 'PATCH' as const, body: { rules }, contentType, signal };
      await client.expect(`${CLUSTER_ROLES}/${name}`, patch, [200]);
    }
  }
}

function matches({ labels }: ClusterRole): (selector: Readonly<Record<string, unknown>>) => boolean {
  return (selector) => Object.entries(selector).every(([key, value]) => labels[key] === value);
}

function clusterRole(item: unknown): ClusterRole {
  const { metadata, rules, aggregationRule } = record(item);
  const { name, labels } = record(metadata);
  const selectors =
    aggregationRule === undefined ? undefined : record(aggregationRule)['clusterRoleSelectors'];
  return {
    name: text(name),
    labels: labels === undefined ? {} : record(labels),
    rules: rules === undefined || rules === null ? [] : array(rules),
    selectors:
      selectors === undefined ? undefined : array(selectors).map((each) => recordIn(each, 'matchLabels')),
  };
}
