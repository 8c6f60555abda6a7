// The types that fields have, index by index, as `_field_caps` tells them; what cannot be looked for, or not be counted
// by its values, is of another type.
import { isRecord } from '../../../../../apis/reading/unknown-value.ts';
import type { JsonObject } from '../connection/json-reader.ts';

/** Of a field: the indices where it is of each. */
export type Types = ReadonlyMap<string, readonly string[]>;

/** Never indexed, whatever is in them. */
const WITHOUT_VALUES = new Set(['unmapped', 'object', 'nested']);

/** What a field is for: to be looked for, or to be put in order and counted by its values. */
export type Ability = 'searchable' | 'aggregatable';

/** Of a field, by its name: indices of which records have it, whether it is mapped there or not. */
export type RecordedFields = ReadonlyMap<string, readonly string[]>;

/** Of each field, by its name. `all`: the indices that were asked. */
export function typesIn(
  fields: JsonObject,
  all: readonly string[],
  ability: Ability,
  recorded: RecordedFields,
): ReadonlyMap<string, Types> {
  const types = new Map(Object.entries(fields).map(([name, given]) => [name, typesOf(given, all, ability)]));
  for (const [name, having] of recorded) types.set(name, withUnmapped(types.get(name) ?? new Map(), having));
  return new Map([...types].map(([name, own]) => [name, withoutNested(own, nestedAround(name, types))]));
}

/** Where records have a field that is not mapped, it can be asked as little as one that is not indexed. */
function withUnmapped(types: Types, having: readonly string[]): Types {
  const mapped = new Set([...types].flatMap(([type, indices]) => (type === 'unmapped' ? [] : indices)));
  const not = having.filter((index) => !mapped.has(index));
  return not.length === 0 ? types : new Map([...types, [unindexed('unmapped'), not]]);
}

function typesOf(types: unknown, all: readonly string[], wanted: Ability): Types {
  return new Map(
    Object.entries(isRecord(types) ? types : {}).flatMap(([type, capability]) => {
      if (!isRecord(capability)) return [[type, all] as const];
      const having = indicesIn(capability['indices']) ?? all;
      // Times are for the order of lines as well.
      const ability = type.startsWith('date') ? 'aggregatable' : wanted;
      if (capability[ability] !== false || WITHOUT_VALUES.has(type)) return [[type, having] as const];
      const not = indicesIn(capability[`non_${ability}_indices`]) ?? having;
      const rest = having.filter((index) => !not.includes(index));
      return [...(rest.length > 0 ? [[type, rest] as const] : []), [unindexed(type), not] as const];
    }),
  );
}

function indicesIn(value: unknown): string[] | undefined {
  return Array.isArray(value) ? value.map(String) : undefined;
}

/** The indices where the field lies in objects that are kept apart: what is asked of a record finds nothing in those. */
function nestedAround(name: string, all: ReadonlyMap<string, Types>): readonly string[] {
  const parts = name.split('.');
  return parts.flatMap((_, n) => all.get(parts.slice(0, n).join('.'))?.get('nested') ?? []);
}

function withoutNested(types: Types, nested: readonly string[]): Types {
  if (nested.length === 0) return types;
  const split = [...types].flatMap(([type, indices]): (readonly [string, readonly string[]])[] => {
    if (WITHOUT_VALUES.has(type)) return [[type, indices]];
    return [
      [type, indices.filter((index) => !nested.includes(index))],
      [unindexed(type), indices.filter((index) => nested.includes(index))],
    ];
  });
  return new Map(split.filter(([, indices]) => indices.length > 0));
}

/** Of the type, and not of use: without an index it cannot be looked for, without doc_values not be counted. */
export function unindexed(type: string): string {
  return `${type}, not indexed`;
}
