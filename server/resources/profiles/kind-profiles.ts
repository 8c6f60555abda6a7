// Creates the profile of any kind: status, selectable fields and sort keys of lists.

import { recordIn } from '../../../apis/reading/unknown-value.ts';
import type { ReducedFacts } from '../../cache/object-reader.ts';
import type { ObjectIdentity } from '../../cache/resource-cache.ts';
import { SharedValues } from '../../memory/shared-values.ts';
import { exactName, type Kind } from '../kind.ts';
import { type Comparison, comparing, type KindProfile, ordered } from '../kind-profile.ts';
import { listColumns } from '../list-columns.ts';
import { FactsReader, secondsOf } from '../object-facts.ts';
import type { RowCondition } from '../resource-definition.ts';
import { podConditions, podValues } from './built-in-columns.ts';
import { builtInValues } from './built-in-values.ts';
import { customValues } from './custom-columns.ts';
import { type Features, featureFacts } from './feature-facts.ts';
import { isExactNumber, UNKNOWN } from './json-path-walk.ts';
import type { KindFacts, KindValues, PrintedColumn, Value } from './kind-values.ts';
import { nodeValues } from './node-values.ts';
import { OWN_FIELDS, selectableFields } from './selectable-fields.ts';
import { statusesOf, statusOf } from './status-words.ts';

/** The profile of a kind whose Tables can be printed. */
export interface PrintedProfile extends KindProfile<KindFacts> {
  /** See KindValues. */
  readonly columns: readonly PrintedColumn[] | undefined;
  /** True if the facts of all objects so far are exact. */
  isExact(): boolean;
  readonly conditions:
    | ((object: ObjectIdentity<KindFacts>) => readonly RowCondition[] | undefined)
    | undefined;
  /** The creation time and the facts of features, for a cache without objects. */
  readonly reduced: ReducedFacts<KindFacts>;
}

/**
 * Returns the profile of a kind. `domain`: of the platform, for instance `platform.io`. `failed`: called with the error of an
 * object whose facts cannot be read. The object is listed with its name and labels only. `features`: of this server, which
 * need facts.
 */
export function kindProfile(
  kind: Kind,
  domain: string,
  failed: (error: unknown) => void = () => undefined,
  features: Partial<Features> = {},
): PrintedProfile {
  const featuresOf = featureFacts(kind, features);
  const reader = new FactsReader(domain);
  const fields = Object.entries(selectableFields(kind));
  const ownFields = fields.filter(([field]) => OWN_FIELDS.has(field));
  const sharedFields = fields.filter(([field]) => !OWN_FIELDS.has(field));
  const sharedFieldValues = new SharedValues<readonly string[]>();
  const sharedValues = new SharedValues<KindFacts['values']>();
  const status = statusOf(kind);
  const reads = Object.fromEntries([
    ...sharedFields.map(([field], i) => fieldOf(field, ({ fieldValues }) => fieldValues[i])),
    ...ownFields.map(([field], i) => fieldOf(field, ({ ownValues }) => ownValues.split(SEPARATOR)[i])),
  ]);
  const values = valuesOf(kind, reads);
  let isExact = true;
  const factsOf = (object: unknown, raw: Buffer): KindFacts => {
    const shared = sharedFields.map(([, read]) => read(object));
    const own = ownFields.map(([, read]) => known(read(object)));
    const read = values.read(object);
    const exact = [...shared, ...own, ...read].every(isExactValue);
    isExact &&= exact;
    // Without a spread, which would take more memory for each object.
    const { createdAt, alias, annotations, owners, searchText } = reader.read(object);
    return {
      createdAt,
      alias,
      annotations,
      owners,
      searchText,
      status: reader.words(status(object)),
      fieldValues: sharedFieldValues.of(shared.map(selectable)),
      ownValues: own.map(selectable).join(SEPARATOR),
      values: sharedValues.of(read.map((value) => (value === UNKNOWN ? null : value))),
      isExact: exact,
      features: featuresOf?.(object, raw),
    };
  };
  return {
    facts: (object, raw = NO_JSON) => {
      try {
        return factsOf(object, raw);
      } catch (error) {
        isExact = false;
        failed(error);
        return { ...NO_FACTS, features: featuresOf?.(object, raw) };
      }
    },
    reduced: {
      read: (object, raw) => ({
        ...NO_FACTS,
        createdAt: secondsOf(recordIn(object, 'metadata')['creationTimestamp']),
        features: featuresOf?.(object, raw),
      }),
      of: ({ createdAt, features }) => ({ ...NO_FACTS, createdAt, features }),
    },
    fields: reads,
    sortKeys: {
      ...Object.fromEntries([...values.sorts].map(([name, i]) => [name, byValue(i)])),
      ...values.sortKeys,
      ...(isPods(kind) && reads['spec.nodeName'] ? { node: comparing(reads['spec.nodeName']) } : {}),
    },
    ...(values.unsortable ? { unsortable: values.unsortable } : {}),
    statuses: statusesOf(kind),
    filters: {
      ...Object.fromEntries([...(values.filters ?? [])].map(([name, i]) => [name, wordsAt(i)])),
      ...values.ownFilters,
    },
    listColumns: listColumns(values.listColumns),
    columns: values.columns,
    isExact: () => isExact,
    conditions: isPods(kind) ? podConditions(reads) : undefined,
  };
}

const NO_FACTS: KindFacts = {
  createdAt: 0,
  status: [],
  alias: '',
  annotations: {},
  owners: [],
  searchText: '',
  fieldValues: [],
  ownValues: '',
  values: [],
  isExact: false,
  features: undefined,
};

const NO_JSON = Buffer.alloc(0);

/** Separates own values. */
const SEPARATOR = '\0';
/** Placeholder of an unknown field, which equals hardly any value of a selector. */
const NOT_SELECTABLE = '\u0001';

/** Returns false for an unknown value, and for an integer that is a sort key, but whose digits are not known. */
function isExactValue(value: Value | typeof UNKNOWN): boolean {
  return value !== UNKNOWN && (typeof value !== 'number' || isExactNumber(value));
}

/** A value with the separator would change the position of the others. */
function known(value: string | typeof UNKNOWN): string | typeof UNKNOWN {
  return value !== UNKNOWN && value.includes(SEPARATOR) ? UNKNOWN : value;
}

function selectable(value: string | typeof UNKNOWN): string {
  return value === UNKNOWN ? NOT_SELECTABLE : value;
}

function isPods(kind: Kind): boolean {
  return exactName(kind) === 'pods';
}

function fieldOf(
  field: string,
  read: (facts: KindFacts) => string | undefined,
): [field: string, read: (object: ObjectIdentity<KindFacts>) => string] {
  return [field, ({ facts }) => read(facts) ?? ''];
}

type Fields = Readonly<Record<string, (object: ObjectIdentity<KindFacts>) => string>>;

function valuesOf(kind: Kind, fields: Fields): KindValues {
  if (kind.custom) return customValues(kind.custom.columns);
  if (isPods(kind)) return podValues(fields);
  if (exactName(kind) === 'nodes') return nodeValues();
  return builtInValues(kind);
}

function wordsAt(i: number): (facts: KindFacts) => readonly string[] {
  return ({ values }) => {
    const value = values[i];
    return typeof value === 'string' ? value.split(' ') : [];
  };
}

/** Compares values of one type; null first, and then numbers before texts in a column that has both. */
function byValue(i: number): Comparison<KindFacts> {
  return (left, right) => {
    const [a, b] = [sortable(left.facts.values[i]), sortable(right.facts.values[i])];
    if (typeof a === 'string' && typeof b === 'string') return ordered(a, b);
    if (typeof a === 'number' && typeof b === 'number') return ordered(a, b);
    return typeof a === 'number' ? -1 : 1;
  };
}

function sortable(value: Value = null): string | number {
  if (typeof value === 'boolean') return Number(value);
  return value ?? Number.NEGATIVE_INFINITY;
}
