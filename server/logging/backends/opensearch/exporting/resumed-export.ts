// An export that goes on where a point in time was lost. A point is bound to the nodes that held its shards when it was
// opened, and ends with any of its indices, while its last record tells where another one has to begin.
import type { Shortfall } from '../../../../../apis/logging/v1alpha2/log-answer.ts';
import { pause } from '../../../../concurrency/pause.ts';
import type { Deadline } from '../../../deadline.ts';
import type { Coverage, LogRecord, Order } from '../../../log-store.ts';
import type { SelectionQuery } from '../selection/selection-query.ts';
import { type ExportOptions, type ExportPart, exportPoint } from './export.ts';

export interface ResumedExportOptions extends ExportOptions {
  /** What to ask for this time now, ascending; the indices are looked at anew. */
  readonly plan: (range: SelectionQuery['range']) => Promise<readonly SelectionQuery[]>;
  /** Before a point is opened anew, and again while shards are away, in ms. */
  readonly pausesMs?: readonly number[] | undefined;
}

/** Another copy takes the place of a shard within a second or two. */
const PAUSES_MS = [500, 1_000, 2_000];

/** All records of a range. */
export async function* exportRecords(
  options: ResumedExportOptions,
  range: SelectionQuery['range'],
  order: Order,
  deadline: Deadline,
): AsyncGenerator<readonly LogRecord[], Coverage, undefined> {
  const { pausesMs = PAUSES_MS } = options;
  const plan = async (part: SelectionQuery['range']): Promise<readonly SelectionQuery[]> => {
    const slices = await options.plan(part);
    return order === 'asc' ? slices : slices.toReversed();
  };
  const shortfalls = new Map<string, Shortfall>();
  const parts: ExportPart[] = (await plan(range)).map((selected) => ({ selected }));
  for (let part = parts.shift(); part; part = parts.shift()) {
    const end = yield* exportPoint(options, part, { order, deadline, shortfalls });
    if (!end) continue;
    const [firstMs = 0, ...restMs] = pausesMs;
    await pause(firstMs, deadline.signal);
    const again = await plan(part.selected.range);
    const gone = part.selected.fields.indices.filter(
      (name) => !again.some((slice) => slice.fields.indices.includes(name)),
    );
    if (gone.length > 0) {
      const shortfall = deleted(gone);
      shortfalls.set(shortfall.message, shortfall);
    }
    // What lies before its begin is found by none of them.
    parts.unshift(...again.map((selected) => ({ selected, begin: end, pausesMs: restMs })));
  }
  return { shortfalls: [...shortfalls.values()] };
}

function deleted(names: readonly string[]): Shortfall {
  const [first = ''] = names;
  const others = names.length === 1 ? '' : ` and ${names.length - 1} more`;
  return {
    reason: 'NotCovered',
    message: `the log store has no ${first}${others} any more, or cannot reach it`,
  };
}
