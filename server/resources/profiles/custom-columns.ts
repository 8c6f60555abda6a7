// The printer columns of a custom resource: the value that each object keeps for a column, and the cells of Tables.
// Tenants write the definitions and the objects, so the number, the paths and the values of columns are bounded.
// Source: pkg/registry/customresource/tableconvertor in apiextensions-apiserver of Kubernetes.
import { messageOf } from '../../../apis/reading/thrown-value.ts';
import { humanDuration } from '../age.ts';
import type { PrinterColumn } from '../kind.ts';
import { type ListColumn, timestamp } from '../list-columns.ts';
import { goText } from './go-text.ts';
import { compileJSONPath, type JSONPath } from './json-path.ts';
import { isExactNumber, JSONPathWalk, UNKNOWN } from './json-path-walk.ts';
import type { KindFacts, KindValues, PrintedColumn, Value } from './kind-values.ts';

/** kube-apiserver has this column if the definition has none. */
const DEFAULT_COLUMN: PrinterColumn = {
  name: 'Age',
  type: 'date',
  jsonPath: '.metadata.creationTimestamp',
};
/** Maximum number of columns; later ones have no values. */
export const MAX_COLUMNS = 64;
/** A column with a longer name has no values, so that error messages stay short. */
const MAX_NAME = 253;
/** Maximum length of a text, and of all texts that an object keeps. */
export const MAX_TEXT = 4 << 10;
export const MAX_TEXTS = 16 << 10;
/** Prefix of the sort key of any column, also of one with the name of another sort key. */
const COLUMN = 'column:';

interface ValueColumn {
  readonly name: string;
  readonly type: string;
  readonly path: JSONPath;
  /** Why the column has no values. */
  readonly reason: string | undefined;
}

export function customValues(definitions: readonly PrinterColumn[]): KindValues {
  const columns = valueColumns(definitions.length > 0 ? definitions : [DEFAULT_COLUMN]);
  const isPrintable = columns.every(({ reason }) => reason === undefined);
  const printed: readonly PrintedColumn[] = [
    { name: 'Name', type: 'string', cell: ({ name }) => name },
    ...columns.map(({ name, type }, i): PrintedColumn => {
      const isDate = type === 'date';
      return {
        name,
        type,
        cell: ({ facts }, now) => {
          const value = facts.values[i] ?? null;
          if (!isDate || typeof value !== 'number') return value;
          return humanDuration(Math.min(now.getTime() - value, MAX_AGE_MS));
        },
      };
    }),
  ];
  const values = columns.slice(0, MAX_COLUMNS);
  const keys = sortKeysOf(definitions.length > 0 ? columns : []);
  return {
    read: (object) => {
      const walk = new JSONPathWalk();
      let left = MAX_TEXTS;
      return values.map(({ type, path, reason }) => {
        if (reason !== undefined) return null;
        const value = valueOf(type, walk.first(object, path), Math.min(left, MAX_TEXT), walk);
        // A text that is too long also takes time.
        if (value === UNKNOWN) left -= MAX_TEXT;
        else if (typeof value === 'string') left -= value.length;
        return value;
      });
    },
    ...keys,
    listColumns: values.flatMap(({ reason }, i) => {
      const definition = definitions[i];
      const isAge = definition?.jsonPath === DEFAULT_COLUMN.jsonPath && definition.type === 'date';
      if (!definition || reason !== undefined || isAge) return [];
      const sortKey = `${COLUMN}${definition.name}`;
      return [listColumn(definition, i, keys.sorts.has(sortKey) ? sortKey : undefined)];
    }),
    columns: isPrintable ? printed : undefined,
  };
}

function valueColumns(definitions: readonly PrinterColumn[]): readonly ValueColumn[] {
  let unparsed: string | undefined;
  return definitions.map(({ name, type, jsonPath }, i) => {
    const invalid = (reason: string): ValueColumn => ({ name, type, path: [], reason });
    if (unparsed !== undefined) {
      return invalid(
        `kube-apiserver prints no column after ${quoted(unparsed)}, whose JSON path is not valid`,
      );
    }
    if (name.length > MAX_NAME) return invalid(`its name has more than ${MAX_NAME} characters`);
    if (i >= MAX_COLUMNS) return invalid(`only the first ${MAX_COLUMNS} printer columns have values`);
    try {
      const { steps, unsupported } = compileJSONPath(jsonPath);
      return unsupported === undefined
        ? { name, type, path: steps, reason: undefined }
        : invalid(`its JSON path ${quoted(jsonPath)} is not supported: ${unsupported}`);
    } catch (error) {
      unparsed = name;
      return invalid(`its JSON path ${quoted(jsonPath)} is not valid: ${messageOf(error)}`);
    }
  });
}

/** Each column has its name and the prefixed name as sort keys. Sort keys of every kind take precedence over the name. */
function sortKeysOf(columns: readonly ValueColumn[]): Pick<KindValues, 'sorts' | 'unsortable'> {
  const sorts = new Map<string, number>();
  const unsortable = new Map<string, string>();
  const names = new Set<string>();
  for (const prefix of ['', COLUMN]) {
    names.clear();
    for (const [i, { name, reason }] of columns.entries()) {
      const key = `${prefix}${name}`;
      const why = names.has(name) ? 'several printer columns have this name' : reason;
      names.add(name);
      sorts.delete(key);
      unsortable.delete(key);
      if (why === undefined) sorts.set(key, i);
      else unsortable.set(key, why);
    }
  }
  return { sorts, unsortable };
}

/** The column of lists for a printer column. `i`: the index of its values. */
function listColumn(
  { name, type, format = '', description = '', priority = 0 }: PrinterColumn,
  i: number,
  sortKey: string | undefined,
): ListColumn<KindFacts> {
  return {
    name,
    type,
    format,
    description,
    priority,
    sortKey,
    value: ({ facts }) => {
      const value = facts.values[i] ?? null;
      if (typeof value !== 'number') return value;
      if (type === 'date') return timestamp(value);
      return isExactNumber(value) ? value : null;
    },
  };
}

function quoted(text: string): string {
  const most = 100;
  return JSON.stringify(text.length > most ? `${text.slice(0, most)}…` : text);
}

/** Returns the value of a column, for a date in ms since the epoch if it is valid. */
function valueOf(type: string, value: unknown, left: number, walk: JSONPathWalk): Value | typeof UNKNOWN {
  if (value === UNKNOWN) return UNKNOWN;
  if (value === undefined) return null;
  switch (type) {
    case 'string':
      return left > 0 ? (goText(value, left, walk) ?? UNKNOWN) : UNKNOWN;
    case 'integer':
      return typeof value === 'number' ? integerOf(value) : null;
    case 'number':
      return typeof value === 'number' ? value : null;
    case 'boolean':
      return typeof value === 'boolean' ? value : null;
    case 'date':
      return typeof value === 'string' ? timeOf(value) : null;
    default:
      return null;
  }
}

/** kube-apiserver prints another number for one of more than 64 bits, which depends on its processor. */
function integerOf(value: number): number | typeof UNKNOWN {
  // Without a negative zero.
  return Math.abs(value) <= 2 ** 63 ? Math.trunc(value) + 0 : UNKNOWN;
}

/** As in Go, the hour can have one digit. */
const RFC3339 = /^(\d{4}-\d\d-\d\d)T(\d\d?)(:\d\d:\d\d)(?:[.,](\d+))?(?:Z|([+-])(\d\d):(\d\d))$/;
/** Maximum duration in Go: 292 years. */
const MAX_AGE_MS = 2 ** 63 / 1e6;
/** The zero time of Go. */
const ZERO = Date.parse('0001-01-01T00:00:00Z');

function timeOf(text: string): Value {
  if (text === '' || text === 'null') return '<unknown>';
  const [, date = '', hour = '', rest = '', fraction = '0', sign = '+', hours = '0', minutes = '0'] =
    RFC3339.exec(text) ?? [];
  const local = `${date}T${hour.padStart(2, '0')}${rest}`;
  const ms = Date.parse(`${local}.${fraction.slice(0, 3)}Z`);
  // Date.parse accepts 30 February and 24:00.
  const isValid = !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(local);
  if (!isValid || Number(hours) > 24 || Number(minutes) > 60) return '<invalid>';
  const offset = (Number(hours) * 60 + Number(minutes)) * 60_000;
  const time = sign === '-' ? ms + offset : ms - offset;
  return time === ZERO ? '<unknown>' : time;
}
