// The columns of a list as the table shows them. While the user scrolls, columns appear and become wider, but never the reverse,
// so that the table does not move.
import type { Column, Rows } from 'ks-apiserver-client';

export interface ShownColumn extends Column {
  /** In the cells of a row. */
  readonly index: number;
  readonly isNumber: boolean;
  /** In characters; 0 for a column without a value, such as the status of ConfigMaps. */
  readonly width: number;
}

const [MIN_WIDTH, MAX_WIDTH] = [5, 44];
const TIME = /^\d{4}-\d\d-\d\dT/;

/** Whether the cell shows its time as a span. */
export function isTime(value: unknown): value is string {
  return typeof value === 'string' && TIME.test(value);
}

/** Returns the columns of some rows. `before`: the columns of other rows of the same list. */
export function columnsOf(
  { columns, rows }: Pick<Rows, 'columns' | 'rows'>,
  before: readonly ShownColumn[],
): readonly ShownColumn[] {
  return columns.map((column, index) => {
    const values = rows.map(({ cells }) => cells[index] ?? null).filter((value) => value !== null);
    const same = before[index]?.name === column.name ? before[index] : undefined;
    const isNumber = same?.isNumber || values.some((value) => typeof value === 'number');
    return { ...column, index, isNumber, width: Math.max(same?.width ?? 0, widthOf(column.name, values)) };
  });
}

function widthOf(name: string, values: readonly unknown[]): number {
  if (values.length === 0) return 0;
  const lengths = values.map((value) => (isTime(value) ? 0 : String(value).length));
  return 4 + Math.min(MAX_WIDTH, Math.max(MIN_WIDTH, name.length + 2, ...lengths));
}
