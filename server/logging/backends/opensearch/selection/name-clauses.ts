// Names of namespaces, pods and containers, as clauses over fields that hold whole values. Many names make few
// clauses: a query may hold about a thousand of those, whatever the number of names.
import type { NameFilter } from '../../../log-store.ts';
import { parsePattern } from '../../../matching/regex-dialect.ts';
import { type PodNameForm, podNameForms } from '../../../matching/workload-names.ts';
import { type FieldCoverage, overFields } from '../fields/field-map.ts';
import { allOf, anyOf, type Clause, MAX_REGEX_LENGTH, NOTHING, regexp } from '../searches/clause.ts';
import {
  type Alternative,
  alternatives,
  isFoldedByEngine,
  literal,
  literalOfAnyCase,
} from './lucene-pattern.ts';

/** A thousand characters of names need more than what is granted by default. */
const WORK = 100_000;
/** `terms` takes 65,536 values. */
const MAX_TERMS = 50_000;

/** The value is one of these. */
export function exactClause(names: readonly string[], coverage: FieldCoverage): Clause {
  const [only] = names;
  if (only === undefined) return NOTHING;
  // Costs the store less than a list of one.
  if (names.length === 1) return overFields(coverage, (field) => ({ term: { [field]: only } }));
  const parts = Array.from({ length: Math.ceil(names.length / MAX_TERMS) }, (_, n) =>
    names.slice(n * MAX_TERMS, (n + 1) * MAX_TERMS),
  );
  return overFields(coverage, (field) => anyOf(parts.map((part) => ({ terms: { [field]: part } }))));
}

/** The same, where the empty name is that of records that have none. `field`: of which the coverage is. */
export function exactOrNoneClause(names: readonly string[], coverage: FieldCoverage, field: string): Clause {
  const named = exactClause(names, coverage);
  return names.includes('') ? anyOf([named, { bool: { must_not: { exists: { field } } } }]) : named;
}

/** So many characters the store is asked to find in names; with more, the names are looked through here. */
const MAX_SOUGHT = 8_000;

export function isTooMuch({ contains = [] }: NameFilter): boolean {
  return contains.reduce((sum, text) => sum + text.length, 0) > MAX_SOUGHT;
}

/** One of the texts is in the value, whatever the case of ASCII letters. */
export function containsClause(texts: readonly string[], coverage: FieldCoverage): Clause {
  const patterns = (ignoreCase: boolean, write: (text: string) => string) =>
    joined(texts.filter((text) => isFoldedByEngine(text) === ignoreCase).map(write), '.*(', ').*').map(
      (value) => ({ value, ignoreCase }),
    );
  const all = [...patterns(true, (text) => literal(text)), ...patterns(false, literalOfAnyCase)];
  return overFields(coverage, (field) =>
    anyOf(all.map(({ value, ignoreCase }) => regexp(field, value, { ignoreCase, work: WORK }))),
  );
}

/** Pods that belong to the workloads. */
export function workloadClause(workloads: NameFilter, coverage: FieldCoverage): Clause {
  return allOf(
    podNameForms(workloads).map((forms) => {
      const frame = frames();
      const patterns = sharing(forms.map((form) => ({ ...frame(form), middle: literal(form.text) })));
      return overFields(coverage, (field) =>
        anyOf(patterns.map((one) => regexp(field, one, { work: WORK }))),
      );
    }),
  );
}

/** What is before and behind the texts, in Lucene's syntax; it is the same for very many. */
function frames(): (form: PodNameForm) => Pick<Alternative, 'lead' | 'tail'> {
  const known = new Map<string, Pick<Alternative, 'lead' | 'tail'>>();
  return ({ before, behind }) => {
    const pattern = `${before}x${behind}`;
    const frame = known.get(pattern) ?? alternatives(parsePattern(pattern))[0] ?? { lead: '', tail: '' };
    known.set(pattern, frame);
    return frame;
  };
}

/** Workloads differ by their names, and begin and end alike: that is written, and gone through, once for many. */
function sharing(all: readonly Alternative[]): string[] {
  const groups = Map.groupBy(all, ({ lead, tail }) => `${lead}(${tail}`);
  return [...groups.values()].flatMap((group) => {
    const { lead = '', tail = '' } = group[0] ?? {};
    return joined(
      group.map(({ middle }) => middle),
      `${lead}(`,
      `)${tail}`,
    );
  });
}

/** As many alternatives in one pattern as an index takes. */
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
