// Checks the health of VictoriaLogs: the store responds, and each configured field occurs in a recent record. A
// store without recent records is healthy.
import { isTimeout } from '../../../../apis/meta/v1/errors.ts';
import { UnfitOptionError } from '../../store/configuration-errors.ts';
import type { Deadline } from '../../store/log-store.ts';
import { newStoreUnavailable } from '../../store/store-errors.ts';
import { ALL, type FieldNames, MESSAGE, quoted, TIME } from './logsql.ts';
import type { Client } from './query-client.ts';
import { numberIn } from './rows.ts';
import { STORE } from './store-error.ts';

/** Range of recent records. Older records may come from an earlier configuration, and a search for them may be slow. */
const RECENT = `${TIME}:1h`;
/** Share of the timeout for the search for fields. */
const FIELDS_SHARE = 0.5;

/** Throws a StatusError: for a store that is unavailable, or that has records but none with one of the configured fields. */
export async function checkFit(client: Client, fields: FieldNames, deadline: Deadline): Promise<void> {
  let missing: string | undefined;
  try {
    missing = await missingField(client, fields, deadline.share(FIELDS_SHARE));
  } catch (error) {
    if (!isTimeout(error) || deadline.signal.aborted) throw error;
    // A slow search for fields is no outage: a cheaper query shows whether the store responds at all.
    await exists(client, ALL, `${TIME}:1s`, deadline);
  }
  if (missing === undefined) return;
  const cure = missing === MESSAGE ? ' (set the parameter _msg_field at the collector)' : '';
  const reason = `no record of the last hour has the field ${missing}${cure}`;
  const option = 'logging.victorialogs.fields';
  throw newStoreUnavailable(STORE, new UnfitOptionError(option, reason, 'log queries miss lines'));
}

/** Returns a field that no recent record has; undefined if there is none, or no recent record. The container id is optional. */
async function missingField(
  client: Client,
  { namespace, pod, container }: FieldNames,
  deadline: Deadline,
): Promise<string | undefined> {
  const names = [namespace, pod, container, MESSAGE];
  const existsRecently = (filter: string): Promise<boolean> => exists(client, filter, RECENT, deadline);
  if (await existsRecently(names.map(isPresent).join(' '))) return undefined;
  if (!(await existsRecently(ALL))) return undefined;
  for (const name of names) if (!(await existsRecently(isPresent(name)))) return name;
  return undefined;
}

function isPresent(field: string): string {
  return `${quoted(field)}:*`;
}

/** Whether a record matches. The store stops at the first one. */
async function exists(client: Client, filter: string, time: string, deadline: Deadline): Promise<boolean> {
  const rows = await client.counts(
    { filter, extraFilters: [time] },
    'limit 1 | stats count() as n',
    deadline,
  );
  // Another server may respond with 200 too.
  return rows.some((row) => numberIn(row, 'n') > 0);
}
