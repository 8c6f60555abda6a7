// Parser of `_field_caps` responses that finds the indexed fields for log queries. Two mappings are supported: the
// index template in docs/log-stores.md, and dynamic mapping.
import { isRecord } from '../../../../apis/reading/unknown-value.ts';
import type { FieldNames } from './search-hit.ts';
import { arrayOf, type JsonObject, objectOf } from './search-response.ts';

/** Names of the indexed fields that queries use. */
export interface Layout {
  /** A keyword field. */
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
  /** A keyword field; undefined if the index has none. */
  readonly containerID: string | undefined;
  /** The field of type `wildcard`, which contains whole lines; undefined if the index has none. */
  readonly wholeLine: string | undefined;
}

export interface LayoutGroup {
  readonly layout: Layout;
  readonly indices: readonly string[];
}

export interface Layouts {
  readonly indices: readonly string[];
  /** Supported indices by layout. */
  readonly groups: readonly LayoutGroup[];
  /** Reasons why the layout of an index is not supported, by index name. */
  readonly unsupported: ReadonlyMap<string, string>;
  /** Indices without a mapping of time and line, because they have no document. */
  readonly empty: readonly string[];
  /** Whether an index has times in nanoseconds. Then the sort keys of all indices are in nanoseconds. */
  readonly nanoseconds: boolean;
}

interface Field {
  readonly type: string;
  readonly searchable: boolean;
  readonly aggregatable: boolean;
}

type FieldOf = (name: string) => Field | undefined;

const KEYWORDS = new Set(['keyword', 'constant_keyword', 'wildcard']);
const TEXTS = new Set(['text', 'match_only_text']);
const DATES = new Set(['date', 'date_nanos']);
const WHOLE_LINE = 'wildcard';
const KEYWORD = 'keyword';

/** Value of the parameter `fields` of `_field_caps`. */
export function requestedFields(names: FieldNames): string {
  const all = Object.values(names).flatMap((name) => [
    ...parentsOf(name),
    name,
    `${name}.${KEYWORD}`,
    `${name}.${WHOLE_LINE}`,
  ]);
  return [...new Set(all)].join(',');
}

/** Parses the response of `_field_caps` with `include_unmapped`. Throws an Error for any other JSON. */
export function readLayouts(json: unknown, names: FieldNames): Layouts {
  const response = objectOf(json, 'the response');
  const indices = arrayOf(response['indices'], 'indices').filter((index) => typeof index === 'string');
  const fields = fieldsByIndex(objectOf(response['fields'], 'fields'), indices);
  const groups = new Map<string, { layout: Layout; indices: string[] }>();
  const unsupported = new Map<string, string>();
  const empty: string[] = [];
  let nanoseconds = false;
  for (const index of indices) {
    const fieldOf: FieldOf = (name) => fields.get(name)?.get(index);
    if (!fieldOf(names.time) && !fieldOf(names.message)) {
      empty.push(index);
      continue;
    }
    const problem = problemOf(names, fieldOf);
    if (problem !== undefined) {
      unsupported.set(index, problem);
      continue;
    }
    nanoseconds ||= fieldOf(names.time)?.type === 'date_nanos';
    const layout = layoutOf(names, fieldOf);
    const key = JSON.stringify(layout);
    const group = groups.get(key) ?? { layout, indices: [] };
    group.indices.push(index);
    groups.set(key, group);
  }
  return { indices, groups: [...groups.values()], unsupported, empty, nanoseconds };
}

/** Returns the reason why the layout is not supported; undefined for a supported layout. */
function problemOf(names: FieldNames, fieldOf: FieldOf): string | undefined {
  const time = fieldOf(names.time);
  if (!time || !DATES.has(time.type) || !time.searchable || !time.aggregatable) {
    return `${names.time} has to be an indexed field of type date or date_nanos, ${described(time)}`;
  }
  const message = fieldOf(names.message);
  if (!message || !TEXTS.has(message.type) || !message.searchable) {
    return `${names.message} has to be an indexed field of type text, ${described(message)}`;
  }
  for (const name of [names.namespace, names.pod, names.container]) {
    if (parentsOf(name).some((parent) => fieldOf(parent)?.type === 'nested')) {
      return `${name} must not be in a nested object`;
    }
    if (fieldOf(name) && keywordOf(name, fieldOf) === undefined) {
      return `${name} has to be an indexed field of type keyword, or to have a subfield ${name}.${KEYWORD}, ${described(fieldOf(name))}`;
    }
  }
  return undefined;
}

function described(field: Field | undefined): string {
  if (!field) return 'and is not mapped';
  return field.searchable ? `and is of type ${field.type}` : `and is of type ${field.type}, not indexed`;
}

function layoutOf(names: FieldNames, fieldOf: FieldOf): Layout {
  // An unmapped field uses `.keyword`: its first value can map it as `text`, in which a `term` would match single
  // words.
  const exact = (name: string): string => keywordOf(name, fieldOf) ?? `${name}.${KEYWORD}`;
  const containerID = keywordOf(names.containerID, fieldOf);
  const wholeLine = `${names.message}.${WHOLE_LINE}`;
  const line = fieldOf(wholeLine);
  return {
    namespace: exact(names.namespace),
    pod: exact(names.pod),
    container: exact(names.container),
    containerID: containerID && fieldOf(containerID)?.aggregatable ? containerID : undefined,
    wholeLine: line?.type === WHOLE_LINE && line.searchable ? wholeLine : undefined,
  };
}

/** The keyword field: the field itself, or its subfield `.keyword`. */
function keywordOf(name: string, fieldOf: FieldOf): string | undefined {
  return [name, `${name}.${KEYWORD}`].find((each) => {
    const field = fieldOf(each);
    return field && KEYWORDS.has(field.type) && field.searchable;
  });
}

function parentsOf(name: string): string[] {
  const parts = name.split('.');
  return parts.slice(1).map((_, n) => parts.slice(0, n + 1).join('.'));
}

/** Types by field and index, without unmapped fields. */
function fieldsByIndex(fields: JsonObject, indices: readonly string[]): Map<string, Map<string, Field>> {
  return new Map(
    Object.entries(fields).map(([name, types]) => {
      const byIndex = new Map<string, Field>();
      for (const [type, capability] of Object.entries(isRecord(types) ? types : {})) {
        if (type === 'unmapped' || !isRecord(capability)) continue;
        const isSearchable = ability(capability, 'searchable');
        const isAggregatable = ability(capability, 'aggregatable');
        for (const index of namesIn(capability['indices']) ?? indices) {
          byIndex.set(index, {
            type,
            searchable: isSearchable(index),
            aggregatable: isAggregatable(index),
          });
        }
      }
      return [name, byIndex];
    }),
  );
}

/** Which indices can search or aggregate a field. With a set, because there can be thousands of indices that can, and that cannot. */
function ability(capability: JsonObject, name: 'searchable' | 'aggregatable'): (index: string) => boolean {
  if (capability[name] !== false) return () => true;
  const without = namesIn(capability[`non_${name}_indices`]);
  const unable = new Set(without);
  return (index) => without !== undefined && !unable.has(index);
}

function namesIn(value: unknown): string[] | undefined {
  return Array.isArray(value) ? value.map(String) : undefined;
}
