// Decoder of URL query parameters into a LogQuery. One error lists all invalid values.
import { QueryDecoder } from '../../meta/v1/query-decoder.ts';
import type { Formats } from '../../reading/schema-validator.ts';
import { LogQuerySchema, MAX_DEPTH, MAX_SECONDS, MAX_SIZE } from './log-query.ts';
import { type ServerChecks, validateLogQuery } from './log-query-validation.ts';

const UTC = 'UTC';

const FORMATS: Formats = {
  'log-interval': { noun: 'an interval', check: parseInterval },
  'time-zone': {
    noun: 'a time zone',
    check: (text) => {
      // The default does not need Intl, which takes longer than the rest of the decoder.
      if (text === UTC) return;
      if (/^ \d/.test(text)) {
        throw new Error(`a plus sign in a URL is a space; write %2B${text.slice(1)}`);
      }
      try {
        Intl.DateTimeFormat('en', { timeZone: text });
      } catch {
        throw new Error('use a name such as Europe/Berlin, or an offset such as +05:30');
      }
    },
  },
};

/** Values of other log APIs, with the value to suggest, by parameter. */
const OTHER_VALUES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
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

/** Parameters of other log APIs, with the parameter to suggest. */
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

/**
 * Parameters without effect. Clients add `watch`, because kube-apiserver ends other proxied requests after a minute.
 */
const IGNORED = ['watch'] as const;

const TOO_MANY: Readonly<Record<string, string>> = {
  from: `is more than ${MAX_DEPTH}; use cursor for deeper pages`,
  size: `is more than ${MAX_SIZE}; use cursor for further lines, or operation=export for all of them`,
};

export function newLogQueryDecoder(checks: ServerChecks = {}): QueryDecoder<typeof LogQuerySchema> {
  return new QueryDecoder(LogQuerySchema, {
    ignored: IGNORED,
    formats: FORMATS,
    otherValues: OTHER_VALUES,
    otherParameters: OTHER_PARAMETERS,
    words: (parameter, value) => {
      if (parameter === 'start_time' || parameter === 'end_time') return timeError(value);
      return typeof value === 'number' && value > 0 ? TOO_MANY[parameter] : undefined;
    },
    contradictions: (query, names) => validateLogQuery(query, names, checks),
  });
}

/** Units that are too fine, detected by the number of digits of a time between 1973 and 2286. */
const FINER_UNITS: readonly {
  readonly unit: string;
  readonly digits: readonly number[];
  readonly perSecond: number;
}[] = [
  { unit: 'milliseconds', digits: [12, 13], perSecond: 1e3 },
  { unit: 'microseconds', digits: [15, 16], perSecond: 1e6 },
  { unit: 'nanoseconds', digits: [18, 19], perSecond: 1e9 },
];

/** Validation error of a time, with the whole Unix seconds that the caller probably meant. */
function timeError(value: unknown): string {
  const text = String(value);
  const [, digits = ''] = /^(\d+)(?:\.\d*)?$/.exec(text) ?? [];
  const finer = FINER_UNITS.find((each) => each.digits.includes(digits.length));
  if (finer) {
    const seconds = Math.floor(Number(digits) / finer.perSecond);
    return `is in ${finer.unit}; times are whole Unix seconds, here ${seconds}`;
  }
  if (/^-\d/.test(text)) return 'is before 1970; times are whole Unix seconds from 0';
  if (/^\d+\.\d*$/.test(text) && Number(text) <= MAX_SECONDS) {
    return `is a fraction; times are whole Unix seconds, here ${Math.floor(Number(text))}`;
  }
  const date = parseDate(text);
  const here = date >= 0 ? `, here ${Math.floor(date / 1000)}` : '';
  return `is not a time; times are whole Unix seconds, at most ${MAX_SECONDS}${here}`;
}

/** Milliseconds since the epoch, or NaN. A date without a time zone is in UTC. */
function parseDate(text: string): number {
  if (!/^\d{4}-\d{2}-\d{2}/.test(text)) return Number.NaN;
  return Date.parse(/:\d{2}(?:\.\d+)?$/.test(text) && !/[+-]\d{2}:\d{2}$/.test(text) ? `${text}Z` : text);
}

/** Seconds, minutes, hours, days, weeks, months, quarters, years. */
type IntervalUnit = 's' | 'm' | 'h' | 'd' | 'w' | 'M' | 'q' | 'y';

export interface LogInterval {
  readonly count: number;
  readonly unit: IntervalUnit;
}

/** Length of each unit in seconds; approximate for months and longer units. */
const SECONDS: Readonly<Record<IntervalUnit, number>> = {
  s: 1,
  m: 60,
  h: 3_600,
  d: 86_400,
  w: 604_800,
  M: 2_629_800,
  q: 7_889_400,
  y: 31_557_600,
};
const LONGEST_YEARS = 100;

/** Throws an Error whose message is the validation error. */
export function parseInterval(text: string): LogInterval {
  const [, digits = '', letter = ''] = /^(\d+)([a-zA-Z])$/.exec(text) ?? [];
  if (!isUnit(letter)) {
    throw new Error('use a whole number with s, m, h, d, w, M (month), q (quarter) or y, for instance 15m');
  }
  const interval = { count: Number(digits), unit: letter };
  if (interval.count === 0) throw new Error('must be greater than 0');
  if (roughSeconds(interval) > LONGEST_YEARS * SECONDS.y) {
    throw new Error(`must not be longer than ${LONGEST_YEARS} years`);
  }
  return interval;
}

/** Length of an interval in seconds; approximate for months and longer units. */
export function roughSeconds({ count, unit }: LogInterval): number {
  return count * SECONDS[unit];
}

function isUnit(letter: string): letter is IntervalUnit {
  return Object.hasOwn(SECONDS, letter);
}
