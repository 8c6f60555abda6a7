import { BEGINNING, earlier, LAST_NANOSECOND, later } from '../../../instant.ts';
import type { Instant } from '../../../log-store.ts';
import type { Clause } from '../searches/clause.ts';

/** `from <= time < before`, whichever of the two is given. Where only milliseconds are kept, those are compared. */
export function timeRange(
  field: string,
  bounds: { readonly from?: Instant; readonly before?: Instant },
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

/** A question that goes beyond is refused. */
function kept(instant: Instant): Instant {
  return earlier(later(instant, BEGINNING), LAST_NANOSECOND);
}
