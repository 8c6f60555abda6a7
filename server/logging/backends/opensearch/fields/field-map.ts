// Which fields of the indices can be asked what: read from the store itself (`_field_caps`), since the same name is a
// keyword in one index and an analysed text with a keyword beside it in another.
import { UnfitOptionError } from '../../../configuration-errors.ts';
import { arrayOf, type JsonObject, objectOf } from '../connection/json-reader.ts';
import { allOf, anyOf, type Clause } from '../searches/clause.ts';
import type { FieldNames } from './field-names.ts';
import { type RecordedFields, type Types, typesIn, unindexed } from './field-types.ts';
import { RecordReader } from './record-reader.ts';

/** A field that holds whole values. */
export interface ExactField {
  readonly name: string;
  /** The only indices where it is one; undefined: wherever it is. */
  readonly indices: readonly string[] | undefined;
}

/** Of the indices that have a field, those that cannot be asked one kind of question about it. */
export interface Gap {
  readonly missing: readonly string[];
  readonly of: number;
}

/** The fields that answer one kind of question. */
export interface FieldCoverage extends Gap {
  readonly fields: readonly ExactField[];
}

/** Fields that some records have not, or that were not to be indexed, and the indices where one of these is so. */
export interface UnmappedFields {
  readonly fields: readonly string[];
  readonly indices: readonly string[];
}

const EXACT = ['keyword', 'constant_keyword', 'wildcard'];
const TEXT = ['text', 'match_only_text'];
const DATE = ['date', 'date_nanos'];

export class FieldMap {
  /** Whether times are kept in nanoseconds, in some of the indices at least. */
  readonly nanoseconds: boolean;
  readonly names: FieldNames;
  /** Names of the indices. */
  readonly indices: readonly string[];
  /** Of what these indices answer. */
  readonly records: RecordReader;
  readonly #types: ReadonlyMap<string, Types>;
  /** The same for who counts values; it is another one where a field has no doc_values, or nothing but them. */
  readonly #counted: ReadonlyMap<string, Types>;
  readonly #coverages = new Map<string, FieldCoverage>();

  private constructor(
    names: FieldNames,
    all: readonly string[],
    fields: JsonObject,
    recorded: RecordedFields,
  ) {
    this.names = names;
    this.indices = all;
    this.#types = typesIn(fields, all, 'searchable', recorded);
    this.#counted = typesIn(fields, all, 'aggregatable', recorded);
    this.nanoseconds = this.#types.get(names.time)?.has('date_nanos') ?? false;
    this.records = new RecordReader(names, this.nanoseconds);
  }

  /** Of an answer of `_field_caps`; undefined when there are no indices. */
  static read(
    names: FieldNames,
    answer: unknown,
    recorded: RecordedFields = new Map(),
  ): FieldMap | undefined {
    const { indices, fields } = objectOf(answer, 'the answer');
    const all = arrayOf(indices, 'indices').filter((index) => typeof index === 'string');
    return all.length === 0 ? undefined : new FieldMap(names, all, objectOf(fields, 'fields'), recorded);
  }

  /** What to ask `_field_caps` for. */
  static asked(names: FieldNames): string {
    const all = Object.values(names).flatMap((name) => [parentOf(name), name, `${name}.*`]);
    return [...new Set(all)].filter((name) => name !== '').join(',');
  }

  /** What of the fields is not mapped in which of the indices; undefined where all of them are in all. */
  get unmapped(): UnmappedFields | undefined {
    const indicesOf = (name: string): string[] => {
      const mapped = new Set(this.#others(name, []));
      return this.indices.filter((index) => !mapped.has(index));
    };
    const fields = Object.values(this.names).filter((name) => indicesOf(name).length > 0);
    return fields.length === 0 ? undefined : { fields, indices: [...new Set(fields.flatMap(indicesOf))] };
  }

  /** Why they cannot be asked for times and lines at all, if so. */
  get fault(): UnfitOptionError | undefined {
    const { time, message } = this.names;
    if (!DATE.some((type) => this.#types.get(time)?.has(type))) return unusable(time, 'date');
    const lines = this.#types.get(message);
    const isText = TEXT.some((type) => lines?.has(type) || lines?.has(unindexed(type)));
    return isText ? undefined : unusable(message, 'text');
  }

  /** Where whole values of the field are: the field itself, or a keyword beside it. */
  exact(field: Exclude<keyof FieldNames, 'time' | 'message'>): FieldCoverage {
    return this.#coverage(this.names[field], 'keyword', EXACT);
  }

  /** Where it can be told which values there are. */
  listed(field: 'namespace' | 'pod' | 'container' | 'containerID'): FieldCoverage {
    return this.#coverage(this.names[field], 'keyword', EXACT, this.#counted);
  }

  /** Ranges of time; who sorts by what is none together with times breaks the whole search. */
  get times(): Gap {
    return this.#gap(this.names.time, DATE);
  }

  /** Words of a line: where they are not indexed as text, a search for them finds nothing, or fails. */
  get words(): Gap {
    return this.#gap(this.names.message, TEXT);
  }

  /** A field of names that no index has, or none as whole values; undefined when each is in some. */
  get missing(): string | undefined {
    const field = (['namespace', 'pod', 'container'] as const).find(
      (each) => this.exact(each).fields.length === 0,
    );
    return field && this.names[field];
  }

  /** A field of what is shown that only lies beside another one, whose value it has: records are without it. */
  get beside(): string | undefined {
    const { message, namespace, pod, container } = this.names;
    return [message, namespace, pod, container].find((name) => {
      const own = new Set(this.#others(name, []));
      const types = this.#types.get(parentOf(name));
      return [...TEXT, ...EXACT].some((type) => types?.get(type)?.some((index) => own.has(index)));
    });
  }

  #gap(name: string, wanted: readonly string[]): Gap {
    return { missing: this.#others(name, wanted), of: this.#others(name, []).length };
  }

  /** The indices that have the field, as none of these types. */
  #others(name: string, types: readonly string[]): string[] {
    return [...(this.#types.get(name) ?? [])]
      .filter(([type]) => type !== 'unmapped' && !types.includes(type))
      .flatMap(([, indices]) => indices);
  }

  /** Where any part of a line can be looked for. */
  wildcard(): FieldCoverage {
    return this.#coverage(this.names.message, 'wildcard', ['wildcard']);
  }

  /** The same at each question. */
  #coverage(name: string, subfield: string, wanted: readonly string[], types = this.#types): FieldCoverage {
    const key = `${types === this.#counted ? 'counted' : 'found'} ${name}.${subfield}`;
    const known = this.#coverages.get(key) ?? covered(types, name, subfield, wanted);
    this.#coverages.set(key, known);
    return known;
  }
}

/** Empty where there is none. */
export function parentOf(name: string): string {
  return name.slice(0, Math.max(0, name.lastIndexOf('.')));
}

function covered(
  all: ReadonlyMap<string, Types>,
  name: string,
  subfield: string,
  wanted: readonly string[],
): FieldCoverage {
  const own = all.get(name) ?? new Map<string, readonly string[]>();
  const having = new Set([...own].flatMap(([type, indices]) => (type === 'unmapped' ? [] : indices)));
  const fields: ExactField[] = [];
  const found = new Set<string>();
  const add = (field: string, types: Types) => {
    const indices = wanted.flatMap((type) => types.get(type) ?? []);
    if (indices.every((index) => found.has(index))) return;
    // Where it is something else, the same question would mean something else.
    const elsewhere = [...types.keys()].some((type) => type !== 'unmapped' && !wanted.includes(type));
    fields.push({ name: field, indices: elsewhere ? indices : undefined });
    for (const index of indices) found.add(index);
  };
  add(name, own);
  const beside = [...all].filter(([other]) => other.startsWith(`${name}.`));
  for (const [other, types] of beside.toSorted(([a]) => (a === `${name}.${subfield}` ? -1 : 1))) {
    add(other, types);
  }
  const missing = [...having].filter((index) => !found.has(index));
  return { fields, missing, of: having.size };
}

/** The question put to whichever field of an index can answer it. */
export function overFields({ fields }: FieldCoverage, clause: (field: string) => Clause): Clause {
  return anyOf(
    fields.map(({ name, indices }) =>
      indices === undefined ? clause(name) : allOf([clause(name), { terms: { _index: indices } }]),
    ),
  );
}

function unusable(name: string, type: string): UnfitOptionError {
  const reason = `the indices have no field ${name} of type ${type}`;
  return new UnfitOptionError('logging.opensearch.fields', reason);
}
