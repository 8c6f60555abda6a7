// The columns of the lists under `/kapis`. Unlike the cells of Tables, a value depends only on the object and never on the
// current time, so that an unchanged page has an unchanged entity tag.
import type { TableColumnDefinition } from '../../apis/meta/v1/table.ts';
import type { ObjectIdentity } from '../cache/resource-cache.ts';
import type { ObjectFacts } from './object-facts.ts';

export interface ListColumn<Facts> extends TableColumnDefinition {
  /** Undefined if lists cannot be sorted by the column. */
  readonly sortKey: string | undefined;
  /** Null if the object has no value, or if the value is not known exactly. */
  value(object: ObjectIdentity<Facts>): string | number | boolean | null;
}

const STATUS: ListColumn<ObjectFacts> = {
  name: 'Status',
  type: 'string',
  format: 'status',
  priority: 0,
  sortKey: 'status',
  description: 'The status of the object, as the parameter `status` selects it.',
  value: ({ facts }) => facts.status[0] ?? null,
};

const AGE: ListColumn<ObjectFacts> = {
  name: 'Age',
  type: 'date',
  format: '',
  priority: 0,
  sortKey: 'age',
  description: 'The creation time of the object.',
  value: ({ facts }) => (facts.createdAt === 0 ? null : timestamp(facts.createdAt * 1000)),
};

/** Returns all columns of a kind. `own`: those that other kinds do not have. */
export function listColumns<Facts extends ObjectFacts>(
  own: readonly ListColumn<Facts>[],
): readonly ListColumn<Facts>[] {
  return [STATUS, ...own, AGE];
}

/** Formats a time in ms since the epoch as a value of a column of the type `date`. */
export function timestamp(ms: number): string {
  return new Date(ms).toISOString();
}

/** Yields the JSON of the members `columns` and `cells` of a list, each with a comma before it. */
export function* columnsJSON<Facts>(
  columns: readonly ListColumn<Facts>[],
  objects: readonly ObjectIdentity<Facts>[],
): Generator<Buffer> {
  yield Buffer.from(`,"columns":${JSON.stringify(columns)},"cells":[`);
  for (const [index, object] of objects.entries()) {
    const row = JSON.stringify(columns.map((column) => column.value(object)));
    yield Buffer.from(index > 0 ? `,${row}` : row);
  }
  yield CELLS_END;
}

const CELLS_END = Buffer.from(']');
