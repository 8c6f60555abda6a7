// Whether the store holds lines with the fields that the configuration names. Lines of something else than containers
// may be there as well, so that one line with all of them is enough.
import type { Deadline } from '../../deadline.ts';
import type { Queries } from './requests/queries.ts';
import { numberIn } from './requests/row-values.ts';
import type { FieldNames } from './selection/fields.ts';
import { quoted, TIME } from './selection/logsql.ts';
import { ALL } from './selection/scope-filter.ts';

/** Older lines may be of another configuration, or many. */
const RECENT = `${TIME}:1h`;

/** Whether a line has them all. Stops at the first. */
export function hasFields(queries: Queries, fields: FieldNames, deadline: Deadline): Promise<boolean> {
  return isThere(queries, namesOf(fields).map(present).join(' '), deadline);
}

/** One that no line has, while there are lines. */
export async function missingField(
  queries: Queries,
  fields: FieldNames,
  deadline: Deadline,
): Promise<string | undefined> {
  if (!(await isThere(queries, ALL, deadline))) return undefined;
  for (const name of namesOf(fields)) {
    if (!(await isThere(queries, present(name), deadline))) return name;
  }
  return undefined;
}

/** Without the id of the container, which lines may lack. */
function namesOf({ message, namespace, pod, container }: FieldNames): readonly string[] {
  return [namespace, pod, container, message];
}

function present(field: string): string {
  return `${quoted(field)}:*`;
}

async function isThere(queries: Queries, lines: string, deadline: Deadline): Promise<boolean> {
  const question = { lines, extraFilters: [RECENT] };
  const rows = await queries.allRows(question, ['limit 1', 'stats count() as n'], deadline);
  // A wrong address may lead to something that answers 200, too.
  return rows.some((row) => numberIn(row, 'n') > 0);
}
