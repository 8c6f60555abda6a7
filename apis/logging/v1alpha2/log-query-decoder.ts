// From a query string to a LogQuery, or to all of its faults: those of single parameters by the schema, and here what
// one parameter says about another. What a text means is the matcher's business, so its faults are asked for.
import { type ParameterNames, QueryDecoder, type QueryFormat } from '../../meta/v1/query-decoder.ts';
import { quoted } from '../../meta/v1/query-faults.ts';
import type { StatusCause } from '../../meta/v1/status.ts';
import { parseInterval } from './log-interval.ts';
import {
  type LogQuery,
  LogQuerySchema,
  MAX_DEPTH,
  MAX_SECONDS,
  MAX_SIZE,
  MAX_TEXT,
  MAX_TEXTS,
  type MatchMode,
} from './log-query.ts';

/** What texts are made of is not known here. */
export interface TextRules {
  readonly hasWord: (text: string) => boolean;
  /** Why no line can be asked for by these texts, each reason with the text that it is about; none when lines can. */
  faults(
    mode: MatchMode,
    texts: readonly string[],
  ): readonly { readonly text: string; readonly fault: string }[];
}

/** What only the server can find wrong, by parameter; undefined when nothing is. */
export interface ServerRules {
  /** Of what it has handed out itself. */
  readonly cursor?: (text: string) => string | undefined;
  readonly context?: (text: string) => string | undefined;
  /** Of how many buckets a histogram would have. */
  readonly interval?: (query: LogQuery) => string | undefined;
}

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
    contradictions: (query, names) => [
      ...timeFaults(query),
      ...depthFaults(query, names),
      ...faultsOfTexts(query, names, textRules),
      ...faultsOfHandedOut(query, serverRules),
      ...faultsOfBuckets(query, names, serverRules),
      ...misfits(query, names),
    ],
  });
}

/**
 * What `log_query` looks for: a comma separates texts where whole words are meant, and is a comma elsewhere. Without any
 * word it is looked for as it stands, unless whole words were asked for: consoles send whole lines, `}` among them.
 */
export function textSearchOf(
  { log_query: text, match }: Pick<LogQuery, 'log_query' | 'match'>,
  hasWord: (text: string) => boolean,
): { readonly mode: MatchMode; readonly texts: readonly string[] } {
  if (text === undefined) return { mode: match, texts: [] };
  if (match === 'substring' || match === 'regex') return { mode: match, texts: [text] };
  if (match === 'prefix' && !hasWord(text)) return { mode: 'substring', texts: [text] };
  return { mode: match, texts: text.split(',').filter((part) => part.trim() !== '') };
}

/** What to ask instead of more lines than one page has or skips. */
const TOO_MANY: Readonly<Record<string, string>> = {
  from: `is more than ${MAX_DEPTH}; deeper pages go by cursor`,
  size: `is more than ${MAX_SIZE}; further lines come by cursor, or all of them by operation=export`,
};

/** Units that a time can only be in, by how many digits it has: from 1973 on, to 2286. */
const FINER: readonly {
  readonly unit: string;
  readonly length: readonly number[];
  readonly perSecond: number;
}[] = [
  { unit: 'milliseconds', length: [12, 13], perSecond: 1e3 },
  { unit: 'microseconds', length: [15, 16], perSecond: 1e6 },
  { unit: 'nanoseconds', length: [18, 19], perSecond: 1e9 },
];

function secondsFault(value: unknown): string {
  const text = String(value);
  const [, digits = ''] = /^(\d+)(?:\.\d*)?$/.exec(text) ?? [];
  const finer = FINER.find(({ length }) => length.includes(digits.length));
  if (finer) {
    const seconds = Math.floor(Number(digits) / finer.perSecond);
    return `is in ${finer.unit}; times are whole Unix seconds, here ${seconds}`;
  }
  if (/^-\d/.test(text)) return 'is before 1970; times are whole Unix seconds from 0';
  if (/^\d+\.\d*$/.test(text) && Number(text) <= MAX_SECONDS) {
    return `is a fraction; times are whole Unix seconds, here ${Math.floor(Number(text))}`;
  }
  const date = dateIn(text);
  const here = date >= 0 ? `, here ${Math.floor(date / 1000)}` : '';
  return `is not a time; times are whole Unix seconds, at most ${MAX_SECONDS}${here}`;
}

/** Milliseconds since the epoch; NaN for what is no date. Without a zone it is one of UTC, wherever the server stands. */
function dateIn(text: string): number {
  if (!/^\d{4}-\d{2}-\d{2}/.test(text)) return Number.NaN;
  return Date.parse(/:\d{2}(?:\.\d+)?$/.test(text) && !/[+-]\d{2}:\d{2}$/.test(text) ? `${text}Z` : text);
}

function timeFaults({ start_time: start, end_time: end }: LogQuery): StatusCause[] {
  if (start === undefined || end === undefined || start <= end) return [];
  return [invalid('end_time', `${end} is before start_time, ${start}`)];
}

/** Where lines are skipped at all: consoles send `from` and `size` with everything else too. */
function depthFaults(
  { operation, from, size, context, follow }: LogQuery,
  { refused }: ParameterNames,
): StatusCause[] {
  if (['operation', 'size', 'context', 'follow'].some((name) => refused.has(name))) return [];
  if (operation !== 'query' || context !== undefined || follow || from + size <= MAX_DEPTH) return [];
  const why = `${from} with a size of ${size} is deeper than ${MAX_DEPTH} lines; deeper pages go by cursor`;
  return [invalid('from', why)];
}

function faultsOfTexts(query: LogQuery, { refused }: ParameterNames, rules: TextRules): StatusCause[] {
  if (refused.has('match')) return [];
  const { mode, texts } = textSearchOf(query, rules.hasWord);
  if (query.log_query !== undefined && texts.length === 0) {
    return [invalid('log_query', `${quoted(query.log_query)} has no text between its commas`)];
  }
  if (texts.length > MAX_TEXTS) {
    const why = `has more than ${MAX_TEXTS} texts between its commas; with match=substring a comma is a comma`;
    return [invalid('log_query', why)];
  }
  const long = texts.filter((text) => text.length > MAX_TEXT);
  const fault = `is longer than ${MAX_TEXT} characters; ask for a part of it`;
  const faults = long.length > 0 ? long.map((text) => ({ text, fault })) : rules.faults(mode, texts);
  return faults.map((each) => invalid('log_query', `${quoted(each.text)} ${each.fault}`));
}

function faultsOfHandedOut(query: LogQuery, faultOf: ServerRules): StatusCause[] {
  return (['cursor', 'context'] as const).flatMap((parameter) => {
    const { [parameter]: text } = query;
    const fault = text === undefined ? undefined : faultOf[parameter]?.(text);
    return fault === undefined ? [] : [invalid(parameter, fault)];
  });
}

function faultsOfBuckets(query: LogQuery, { refused }: ParameterNames, rules: ServerRules): StatusCause[] {
  if (query.operation !== 'histogram' || refused.has('interval') || refused.has('end_time')) return [];
  const fault = rules.interval?.(query);
  return fault === undefined ? [] : [invalid('interval', fault)];
}

/**
 * Parameters that can not stand together. Consoles send `interval`, `sort`, `from` and `size` with every operation, so
 * those, where they mean nothing, are let go.
 */
function misfits(query: LogQuery, { given, refused }: ParameterNames): StatusCause[] {
  const faults: StatusCause[] = [];
  const clash = (parameter: string, why: string): void => {
    if (given.has(parameter)) faults.push(invalid(parameter, why));
  };
  const { operation } = query;
  if (operation !== 'query') {
    clash('cursor', `goes with operation=query only, not with ${operation}`);
    clash('context', `goes with operation=query only, not with ${operation}`);
    if (query.follow) clash('follow', `goes with operation=query only, not with ${operation}`);
  }
  if (operation !== 'export' && !refused.has('operation')) clash('format', 'goes with operation=export only');
  if (operation === 'export' && query.highlight) clash('highlight', 'does not go with operation=export');
  if (given.has('cursor') && query.from > 0) {
    clash('from', 'does not go with cursor, which says itself where the page begins');
  }
  if (given.has('context')) clash('cursor', 'does not go with context');
  else if (!refused.has('context')) {
    for (const name of ['before', 'after']) clash(name, 'goes with context only');
  }
  if (query.follow) {
    clash('end_time', 'does not go with follow, which ends when the caller leaves');
    for (const name of ['cursor', 'context']) clash(name, 'does not go with follow');
    if (query.from > 0) clash('from', 'does not go with follow');
  }
  return faults;
}

function invalid(field: string, message: string): StatusCause {
  return { reason: 'FieldValueInvalid', message, field };
}
