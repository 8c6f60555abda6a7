// From a query string to a LogQuery, or to all of its faults: those of single parameters by the schema, and those of a
// parameter beside another.
import { QueryDecoder, type QueryFormat } from '../../meta/v1/query-decoder.ts';
import { parseInterval } from './log-interval.ts';
import { LogQuerySchema, MAX_DEPTH, MAX_SIZE } from './log-query.ts';
import { contradictionsIn, type ServerRules, type TextRules } from './log-query-faults.ts';
import { secondsFault } from './unix-seconds.ts';

const UTC = 'UTC';

const FORMATS: Readonly<Record<string, QueryFormat>> = {
  'log-interval': { noun: 'an interval', check: parseInterval },
  'time-zone': {
    noun: 'a time zone',
    check: (text) => {
      // The one that is taken when none is given; asking costs more than everything else here together.
      if (text === UTC) return;
      if (/^ \d/.test(text)) {
        throw new Error(`a plus sign is a space in a URL, unless it is written as %2B${text.slice(1)}`);
      }
      try {
        Intl.DateTimeFormat('en', { timeZone: text });
      } catch {
        throw new Error('a name as Europe/Berlin, or an offset as +05:30');
      }
    },
  },
};

const OTHER_NAMES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  operation: { aggregate: 'statistics', count: 'statistics', download: 'export', search: 'query' },
  match: { contains: 'substring', exact: 'phrase', word: 'phrase' },
  case: { insensitive: 'ignore', sensitive: 'respect' },
  level: {
    critical: 'fatal',
    emergency: 'fatal',
    notice: 'info',
    panic: 'fatal',
    trace: 'debug',
    verbose: 'debug',
  },
  sort: { newest: 'desc', oldest: 'asc' },
  format: {
    'json-lines': 'ndjson',
    jsonl: 'ndjson',
    jsonlines: 'ndjson',
    plain: 'text',
    raw: 'text',
    tsv: 'csv',
    'x-ndjson': 'ndjson',
  },
};

const OTHER_PARAMETERS: Readonly<Record<string, string>> = {
  direction: 'sort',
  keyword: 'log_query',
  limit: 'size',
  offset: 'from',
  order: 'sort',
  page_size: 'size',
  pagesize: 'size',
  q: 'log_query',
  query: 'log_query',
  search: 'log_query',
  severity: 'level',
  since: 'start_time',
  step: 'interval',
  tail: 'follow',
  tz: 'time_zone',
  until: 'end_time',
};

/** kube-apiserver ends what it hands over after a minute, unless it takes it for a watch. */
const IGNORED = ['watch'] as const;

/** What to ask instead of more lines than one page has or skips. */
const TOO_MANY: Readonly<Record<string, string>> = {
  from: `is more than ${MAX_DEPTH}; deeper pages go by cursor`,
  size: `is more than ${MAX_SIZE}; further lines come by cursor, or all of them by operation=export`,
};

export function newLogQueryDecoder(
  textRules: TextRules,
  serverRules: ServerRules = {},
): QueryDecoder<typeof LogQuerySchema> {
  return new QueryDecoder(LogQuerySchema, {
    ignored: IGNORED,
    formats: FORMATS,
    otherNames: OTHER_NAMES,
    otherParameters: OTHER_PARAMETERS,
    words: (parameter, value) => {
      if (parameter === 'start_time' || parameter === 'end_time') return secondsFault(value);
      return typeof value === 'number' && value > 0 ? TOO_MANY[parameter] : undefined;
    },
    contradictions: (query, names) =>
      contradictionsIn(query, names, { texts: textRules, server: serverRules }),
  });
}
