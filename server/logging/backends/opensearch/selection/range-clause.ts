import type { Clause } from '../searches/clause.ts';

/** Times that fit into 64 bits of nanoseconds; a question that goes beyond is refused. */
const FIRST = '1970-01-01T00:00:00.000000000Z';
const LAST = '2262-04-11T23:47:16.854775807Z';

/** `from <= time < before`, whichever of the two is given. Where only milliseconds are kept, those are compared. */
export function timeRange(
  field: string,
  bounds: { readonly from?: string; readonly before?: string },
): Clause {
  return {
    range: {
      [field]: {
        ...(bounds.from === undefined ? {} : { gte: kept(bounds.from) }),
        ...(bounds.before === undefined ? {} : { lt: kept(bounds.before) }),
        format: 'strict_date_optional_time_nanos',
      },
    },
  };
}

function kept(instant: string): string {
  if (instant < FIRST) return FIRST;
  return instant > LAST ? LAST : instant;
}
