// The filters of the node list for consoles. The list contains the nodes that match all filters of the query.
import { parseFieldSelector } from '../../../apis/meta/v1/field-selector.ts';
import { parseLabelSelector } from '../../../apis/meta/v1/label-selector.ts';
import type { NodeQuery } from '../../../apis/resources/v1alpha3/node-query.ts';
import { fieldTests } from '../selection.ts';
import { ALIAS_ANNOTATION } from './node-facts.ts';
import type { NodeIdentity } from './sort-keys.ts';

export type NodeTest = (node: NodeIdentity) => boolean;

export interface NodeFilter {
  /** Cache key of the filter: equal filters have equal keys. Empty for a filter that matches all nodes. */
  readonly key: string;
  readonly test: NodeTest;
}

type Filters = Omit<NodeQuery, 'page' | 'limit' | 'sortBy' | 'ascending'>;

/** Returns the filter of a query with valid selectors. `domain`: of the platform, for instance `platform.io`. */
export function nodeFilter(query: NodeQuery, domain: string): NodeFilter {
  const { page: _page, limit: _limit, sortBy: _sortBy, ascending: _ascending, ...filters } = query;
  const given = Object.entries(filters).sort(([a], [b]) => (a < b ? -1 : 1));
  if (given.length === 0) return { key: '', test: () => true };
  const tests = testsOf(filters, `${domain}/${ALIAS_ANNOTATION}`);
  return { key: JSON.stringify(given), test: (node) => tests.every((test) => test(node)) };
}

function testsOf(filters: Filters, alias: string): NodeTest[] {
  const { name, names, uid, status, role, labelSelector, label, annotation, fieldSelector } = filters;
  const tests: NodeTest[] = [];
  const aliasOf = ({ facts }: NodeIdentity): string =>
    Object.hasOwn(facts.annotations, alias) ? (facts.annotations[alias] ?? '') : '';
  if (uid !== undefined) tests.push((node) => node.uid === uid);
  if (names) tests.push(among(names, (node) => [node.name]));
  if (status) tests.push(among(status, ({ facts }) => [facts.status]));
  if (role) tests.push(among(role, ({ facts }) => facts.roles));
  if (name !== undefined) tests.push((node) => node.name.includes(name) || aliasOf(node).includes(name));
  if (filters.alias !== undefined) {
    const wanted = filters.alias;
    tests.push((node) => aliasOf(node).includes(wanted));
  }
  for (const text of [labelSelector, label]) {
    if (text === undefined) continue;
    const selector = parseLabelSelector(text);
    tests.push(({ labels }) => selector.matches(labels));
  }
  if (annotation !== undefined) {
    const selector = parseLabelSelector(annotation);
    tests.push(({ facts }) => selector.matches(facts.annotations));
  }
  for (const [field, passes] of fieldTests(parseFieldSelector(fieldSelector ?? ''))) {
    const read = FIELDS[field];
    tests.push((node) => passes(read?.(node) ?? ''));
  }
  return tests;
}

const FIELDS: Readonly<Record<string, (node: NodeIdentity) => string>> = {
  'metadata.name': ({ name }) => name,
  'spec.unschedulable': ({ facts }) => String(facts.unschedulable),
};

function among(wanted: readonly string[], read: (node: NodeIdentity) => readonly string[]): NodeTest {
  const set = new Set(wanted);
  return (node) => read(node).some((one) => set.has(one));
}
