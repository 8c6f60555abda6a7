// The printer columns of a custom resource: the value that each object keeps for a column, and the cells of Tables.
// Source: pkg/registry/customresource/tableconvertor in apiextensions-apiserver of Kubernetes.
import { goEscaped } from '../../../apis/reading/go-json.ts';
import { humanDuration } from '../age.ts';
import type { PrinterColumn } from '../kind.ts';
import { JSONPath } from './json-path.ts';
import type { KindValues, PrintedColumn, Value } from './kind-values.ts';

/** kube-apiserver has this column if the definition has none. */
const DEFAULT_COLUMN: PrinterColumn = {
  name: 'Age',
  type: 'date',
  jsonPath: '.metadata.creationTimestamp',
};

export function customValues(definitions: readonly PrinterColumn[]): KindValues {
  const columns = definitions.length > 0 ? definitions : [DEFAULT_COLUMN];
  const paths = columns.map(({ jsonPath }) => new JSONPath(jsonPath));
  let isPrintable = columns.every(({ jsonPath }) => SIMPLE_PATH.test(jsonPath));
  const printed: readonly PrintedColumn[] = [
    { name: 'Name', type: 'string', cell: ({ name }) => name },
    ...columns.map(({ name, type }, i): PrintedColumn => {
      const isDate = type === 'date';
      return {
        name,
        type,
        cell: ({ facts }, now) => {
          const value = facts.values[i] ?? null;
          return isDate && typeof value === 'number' ? humanDuration(now.getTime() - value) : value;
        },
      };
    }),
  ];
  return {
    read: (object) =>
      columns.map(({ type }, i) => {
        const value = paths[i]?.first(object);
        if (!isExact(value)) isPrintable = false;
        return valueOf(type, value);
      }),
    sorts: new Map(definitions.map(({ name }, i) => [name, i])),
    columns: () => (isPrintable ? printed : undefined),
  };
}

const NAME = String.raw`\.(?:[\w/-]|\\.)+`;
const TEXT = String.raw`(?:"[^"'\\]*"|'[^"'\\]*')`;
/** The paths that have the same result in RFC 9535 as in Kubernetes, also for missing values. */
const SIMPLE_PATH = new RegExp(
  String.raw`^(?:${NAME}|\[-?\d+\])+(?:(?:\[\*\]|\[\?\(@(?:${NAME})+\s*==\s*${TEXT}\)\])(?:${NAME})*)?$`,
);

/** Returns false for a value whose text can differ from that of kube-apiserver: large integers, and objects, whose keys it sorts. */
function isExact(value: unknown): boolean {
  if (Array.isArray(value)) return value.every((item) => !Array.isArray(item) && isExact(item));
  if (typeof value === 'number') return !Number.isInteger(value) || Number.isSafeInteger(value);
  return typeof value !== 'object' || value === null;
}

/** Returns the value of a column, for a date in ms since the epoch if it is valid. */
function valueOf(type: string, value: unknown): Value {
  if (value === undefined) return null;
  switch (type) {
    case 'string':
      return goText(value);
    case 'integer':
      return typeof value === 'number' ? Math.trunc(value) : null;
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

/** Returns the text that Go prints. */
function goText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value === null) return '<no value>';
  if (typeof value === 'number') return goNumber(value);
  return goEscaped(JSON.stringify(value));
}

/** Formats a number as `%v` of Go does: an integer in digits, another number with an exponent if it is large or small. */
function goNumber(value: number): string {
  const [digits = '', exponent = ''] = value.toExponential().split('e');
  if (Number.isInteger(value) || (Number(exponent) >= -4 && Number(exponent) < 6)) return String(value);
  return `${digits}e${exponent[0] ?? ''}${exponent.slice(1).padStart(2, '0')}`;
}

const RFC3339 = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:[.,]\d+)?(?:Z|[+-]\d\d:\d\d)$/;

function timeOf(text: string): Value {
  if (text === '' || text === 'null') return '<unknown>';
  const [, local] = RFC3339.exec(text) ?? [];
  const ms = Date.parse(text.replace(',', '.'));
  if (local === undefined || Number.isNaN(ms)) return '<invalid>';
  // Date.parse accepts 30 February.
  return new Date(`${local}Z`).toISOString().startsWith(local) ? ms : '<invalid>';
}
