// Clauses for names of namespaces, pods, containers and workloads, over fields with whole values. Many names become few
// clauses, because a query has at most 1,024 of them by default.
import type { NameFilter } from '../../log-store.ts';
import { podNameForms } from '../../matching/workload-names.ts';
import { newNotSupported } from '../../store-errors.ts';
import { allOf, anyOf, type Clause, MATCH_NONE, MAX_REGEX_LENGTH, regexp } from './clause.ts';
import { STORE } from './error-response.ts';
import { literal } from './lucene-pattern.ts';

/** A thousand characters of names need more states than the default. */
const MAX_STATES = 100_000;
/** Characters of `contains`: the store compiles an automaton from them for each shard. */
const MAX_CONTAINS_LENGTH = 8_000;

/** Clauses that all have to match. `base`: the name of the field in documents. Throws NotSupported. */
export function nameClauses({ exact, contains }: NameFilter, field: string, base: string): Clause[] {
  return [
    ...(contains ? [containsClause(contains, field, base)] : []),
    ...(exact
      ? [exact.includes('') ? anyOf([exactClause(exact, field), isAbsent(base)]) : exactClause(exact, field)]
      : []),
  ];
}

export function exactClause(names: readonly string[], field: string): Clause {
  const [only] = names;
  if (only === undefined) return MATCH_NONE;
  return names.length === 1 ? { term: { [field]: only } } : { terms: { [field]: names } };
}

/** The empty name is the name in records without one. */
function isAbsent(field: string): Clause {
  return { bool: { must_not: { exists: { field } } } };
}

function containsClause(texts: readonly string[], field: string, base: string): Clause {
  if (texts.reduce((sum, { length }) => sum + length, 0) > MAX_CONTAINS_LENGTH) {
    const cure = `parts of names may have ${MAX_CONTAINS_LENGTH} characters in all; use fewer or shorter ones for \`${base}\``;
    throw newNotSupported(STORE, 'namespace_query', cure);
  }
  // Lucene 10 takes ı and İ for i. Names of Kubernetes objects are ASCII, so these match none.
  const sought = texts.filter((text) => !/[\u0130\u0131]/.test(text));
  return anyOf(
    joined(
      sought.map((text) => literal(text)),
      '.*(',
      ').*',
    ).map((pattern) => regexp(field, pattern, { ignoreCase: true, maxStates: MAX_STATES })),
  );
}

/** Pods of the workloads. */
export function workloadClause(workloads: NameFilter, field: string): Clause {
  return allOf(
    podNameForms(workloads).map((forms) => {
      // The names differ, while what precedes and follows them is the same for most.
      const groups = Map.groupBy(forms, ({ before, behind }) => `${before}\n${behind}`);
      const patterns = [...groups.values()].flatMap((group) => {
        const [before = '', behind = ''] = [group[0]?.before, group[0]?.behind].map(inLucene);
        return joined(
          group.map(({ text }) => literal(text)),
          `${before}(`,
          `)(${behind})`,
        );
      });
      return anyOf(patterns.map((pattern) => regexp(field, pattern, { maxStates: MAX_STATES })));
    }),
  );
}

/** Lucene takes a `-` at the end of a set for a range. */
function inLucene(pattern = ''): string {
  return pattern.replaceAll('-]', '\\-]');
}

/** Patterns with as many alternatives as an index accepts in one. */
function joined(alternatives: readonly string[], before: string, behind: string): string[] {
  const room = MAX_REGEX_LENGTH - before.length - behind.length;
  const groups: string[][] = [];
  let length = Number.POSITIVE_INFINITY;
  for (const alternative of alternatives) {
    if (length + alternative.length + 1 > room) {
      groups.push([]);
      length = 0;
    }
    groups.at(-1)?.push(alternative);
    length += alternative.length + 1;
  }
  return groups.map((group) => `${before}${group.join('|')}${behind}`);
}
