// Filter of list queries under `/kapis`, for any kind. An object must match all filters of the query.
import { parseFieldSelector } from '../../../apis/meta/v1/field-selector.ts';
import { parseLabelSelector } from '../../../apis/meta/v1/label-selector.ts';
import type { ResourceQuery } from '../../../apis/resources/v1alpha3/resource-query.ts';
import type { ObjectIdentity } from '../../cache/resource-cache.ts';
import type { KindProfile } from '../kind-profile.ts';
import type { ObjectFacts } from '../object-facts.ts';
import { fieldTests } from '../selection.ts';

type Test<Facts> = (object: ObjectIdentity<Facts>) => boolean;

export interface ListFilter<Facts> {
  /** Cache key of the filter: equal filters have equal keys. Empty for a filter that matches all objects. */
  readonly key: string;
  readonly test: Test<Facts>;
}

/** The parameters that do not filter objects, or filter them by namespace. */
const OTHERS = new Set(['page', 'limit', 'sortBy', 'ascending', 'facets', 'namespaces', 'columns', 'live']);

/** Returns the filter of a query with valid selectors. */
export function listFilter<Facts extends ObjectFacts>(
  query: ResourceQuery,
  profile: Pick<KindProfile<Facts>, 'fields' | 'filters'>,
): ListFilter<Facts> {
  const given = Object.entries(query)
    .filter(([name]) => !OTHERS.has(name))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  if (given.length === 0) return { key: '', test: () => true };
  const tests = testsOf(query, profile);
  return { key: JSON.stringify(given), test: (object) => tests.every((test) => test(object)) };
}

/** Returns the filter of the objects that pass all these filters. */
export function allOf<Facts>(filters: readonly ListFilter<Facts>[]): ListFilter<Facts> {
  const given = filters.filter(({ key }) => key !== '');
  const [first] = given;
  if (given.length === 1 && first) return first;
  return {
    key: given.map(({ key }) => key).join('\n'),
    test: (object) => given.every(({ test }) => test(object)),
  };
}

/** Returns the filter of the objects with all these labels. */
export function labelFilter<Facts>(wanted: Readonly<Record<string, string>>): ListFilter<Facts> {
  const given = Object.entries(wanted).sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    key: `labels ${JSON.stringify(given)}`,
    test: ({ labels }) => given.every(([key, value]) => Object.hasOwn(labels, key) && labels[key] === value),
  };
}

function testsOf<Facts extends ObjectFacts>(
  query: ResourceQuery,
  { fields, filters }: Pick<KindProfile<Facts>, 'fields' | 'filters'>,
): Test<Facts>[] {
  const { name, names, uid, status, alias, ownerReference, ownerKind, q } = query;
  const given: Readonly<Record<string, unknown>> = { ...query };
  const tests: Test<Facts>[] = [];
  if (uid !== undefined) tests.push((object) => object.uid === uid);
  if (names) tests.push(among(names, (object) => [object.name]));
  if (status) tests.push(among(status, ({ facts }) => facts.status));
  for (const [parameter, read] of Object.entries(filters)) {
    const wanted = given[parameter];
    if (Array.isArray(wanted)) tests.push(among(wanted.map(String), ({ facts }) => read(facts)));
  }
  if (name !== undefined) {
    tests.push((object) => object.name.includes(name) || object.facts.alias.includes(name));
  }
  if (alias !== undefined) tests.push(({ facts }) => facts.alias.includes(alias));
  if (ownerReference !== undefined || ownerKind !== undefined) {
    tests.push(({ facts }) =>
      facts.owners.some(
        (owner) => owner.uid === (ownerReference ?? owner.uid) && owner.kind === (ownerKind ?? owner.kind),
      ),
    );
  }
  if (q !== undefined) tests.push(textTest(q));
  for (const text of [query.labelSelector, query.label]) {
    if (text === undefined) continue;
    const selector = parseLabelSelector(text);
    tests.push(({ labels }) => selector.matches(labels));
  }
  if (query.annotation !== undefined) {
    const selector = parseLabelSelector(query.annotation);
    tests.push(({ facts }) => selector.matches(facts.annotations));
  }
  for (const [field, passes] of fieldTests(parseFieldSelector(query.fieldSelector ?? ''))) {
    const read = fieldReader(field, fields);
    tests.push((object) => passes(read(object)));
  }
  return tests;
}

function fieldReader<Facts>(
  field: string,
  fields: KindProfile<Facts & ObjectFacts>['fields'],
): (object: ObjectIdentity<Facts & ObjectFacts>) => string {
  if (field === 'metadata.name') return ({ name }) => name;
  if (field === 'metadata.namespace') return ({ namespace }) => namespace;
  return (Object.hasOwn(fields, field) ? fields[field] : undefined) ?? (() => '');
}

/** Returns a case-insensitive test of name, namespace, alias, labels and images. */
function textTest<Facts extends ObjectFacts>(text: string): Test<Facts> {
  const wanted = text.toLowerCase();
  return ({ name, namespace, facts }) =>
    name.toLowerCase().includes(wanted) ||
    namespace.toLowerCase().includes(wanted) ||
    facts.searchText.includes(wanted);
}

function among<Facts>(
  wanted: readonly string[],
  read: (object: ObjectIdentity<Facts>) => readonly string[],
): Test<Facts> {
  const set = new Set(wanted);
  return (object) => read(object).some((one) => set.has(one));
}
