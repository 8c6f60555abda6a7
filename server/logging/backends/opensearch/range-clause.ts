import type { Clause } from './clause.ts';

/** `from <= time < before`, whichever of the two is given. Where only milliseconds are kept, those are compared. */
export function timeRange(
  field: string,
  bounds: { readonly from?: string; readonly before?: string },
): Clause {
  return {
    range: {
      [field]: {
        ...(bounds.from === undefined ? {} : { gte: bounds.from }),
        ...(bounds.before === undefined ? {} : { lt: bounds.before }),
        format: 'strict_date_optional_time_nanos',
      },
    },
  };
}
