// Whether the store answers, and holds lines with the fields that the configuration names. Lines of something else than
// containers may be there as well, so that one line with all of them is enough.
import { isTimeout } from '../../../../apis/meta/v1/errors.ts';
import { UnfitOptionError } from '../../configuration-errors.ts';
import type { Deadline } from '../../deadline.ts';
import { newStoreUnavailable } from '../../store-errors.ts';
import type { Queries } from './requests/queries.ts';
import { STORE } from './requests/refusal.ts';
import { numberIn } from './requests/row-values.ts';
import type { FieldNames } from './selection/fields.ts';
import { quoted, TIME } from './selection/logsql.ts';
import { ALL } from './selection/scope-filter.ts';

/** Older lines may be of another configuration, or many. */
const RECENT = `${TIME}:1h`;
/** The share of the time in which lines with all fields are looked for. */
const FIELDS_SHARE = 0.5;

/** Resolves when log queries find what there is; else rejects with the option that does not fit, if it is one. */
export async function checkFit(queries: Queries, fields: FieldNames, deadline: Deadline): Promise<void> {
  const missing = await missingField(queries, fields, deadline.share(FIELDS_SHARE)).catch(
    async (error: unknown) => {
      if (!isTimeout(error) || deadline.signal.aborted) throw error;
      // A store that looks for them for long may be well: whether it answers at all is found out by less.
      await isThere(queries, ALL, `${TIME}:1s`, deadline);
    },
  );
  if (missing === undefined) return;
  const reason = `no line of the last hour has the field ${missing}`;
  const option = 'logging.victorialogs.fields';
  throw newStoreUnavailable(STORE, new UnfitOptionError(option, reason, 'log queries miss lines'));
}

/** One that no line has, while there are lines. */
async function missingField(
  queries: Queries,
  fields: FieldNames,
  deadline: Deadline,
): Promise<string | undefined> {
  const names = namesOf(fields);
  const isKnown = (lines: string): Promise<boolean> => isThere(queries, lines, RECENT, deadline);
  // Stops at the first line.
  if (await isKnown(names.map(present).join(' '))) return undefined;
  if (!(await isKnown(ALL))) return undefined;
  for (const name of names) if (!(await isKnown(present(name)))) return name;
  return undefined;
}

/** Without the id of the container, which lines may lack. */
function namesOf({ message, namespace, pod, container }: FieldNames): readonly string[] {
  return [namespace, pod, container, message];
}

function present(field: string): string {
  return `${quoted(field)}:*`;
}

/** `time`: a filter. */
async function isThere(queries: Queries, lines: string, time: string, deadline: Deadline): Promise<boolean> {
  const question = { lines, extraFilters: [time] };
  const rows = await queries.allRows(question, ['limit 1', 'stats count() as n'], deadline);
  // A wrong address may lead to something that answers 200, too.
  return rows.some((row) => numberIn(row, 'n') > 0);
}
