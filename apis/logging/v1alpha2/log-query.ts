// JSON Schema of the parameters of a log query. log-query-validation.ts validates combinations of parameters.
import type { Static } from 'typebox';
import { Type } from '../../reading/json-schema.ts';

const OPERATIONS = ['query', 'statistics', 'histogram', 'export'] as const;

const MATCH_MODES = ['phrase', 'prefix', 'substring', 'regex'] as const;
export type MatchMode = (typeof MATCH_MODES)[number];

export const LEVELS = ['debug', 'info', 'warn', 'error', 'fatal'] as const;
export type Level = (typeof LEVELS)[number];

/** The most severe level of a line, and `none` for a line without levels. The most severe one is first. */
export const SEVERITIES = ['fatal', 'error', 'warn', 'info', 'debug', 'none'] as const;
export type Severity = (typeof SEVERITIES)[number];

export function bySeverity<Value>(of: (severity: Severity) => Value): Record<Severity, Value> {
  return {
    fatal: of('fatal'),
    error: of('error'),
    warn: of('warn'),
    info: of('info'),
    debug: of('debug'),
    none: of('none'),
  };
}

const EXPORT_FORMATS = ['text', 'ndjson', 'json', 'csv'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** Maximum number of names in a list. */
export const MAX_NAMES = 1_000;
/** Consoles list all namespaces of a workspace, which may have thousands. */
export const MAX_NAMESPACES = 5_000;
/**
 * Maximum number of texts. Consoles send whole lines as `log_query`, and the commas of a JSON object separate texts.
 */
export const MAX_TEXTS = 50;
/** Maximum length of a text or pattern. */
export const MAX_TEXT = 1_000;
/** Maximum length of all texts together. */
const MAX_LOG_QUERY = 20_000;
/** Maximum number of words of all texts together. */
export const MAX_WORDS = 200;
/** Ten digits, up to the year 2286; a time in milliseconds has thirteen. */
export const MAX_SECONDS = 9_999_999_999;
/** Maximum number of lines of a page. */
export const MAX_SIZE = 1_000;
/** Maximum of `from` plus `size`: the result window of OpenSearch, and the depth that consoles use. */
export const MAX_DEPTH = 10_000;
/** Maximum number of lines before and after a record. */
const MAX_CONTEXT = 500;

const NAME = Type.String({ minLength: 1, maxLength: 253 });

const names = (what: string, maxItems = MAX_NAMES) =>
  Type.Optional(
    Type.Array(NAME, {
      minItems: 1,
      maxItems,
      description: `Exact names of ${what}.`,
    }),
  );
const fuzzy = (what: string) =>
  Type.Optional(
    Type.Array(NAME, {
      minItems: 1,
      maxItems: MAX_NAMES,
      description: `Parts of the names of ${what}; case-insensitive.`,
    }),
  );
const seconds = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 0, maximum: MAX_SECONDS, description }));
const choice = <const Words extends readonly string[]>(
  words: Words,
  initial: Words[number],
  description: string,
) => Type.Unsafe<Words[number]>({ type: 'string', enum: [...words], default: initial, description });

export const LogQuerySchema = Type.Object(
  {
    operation: choice(
      OPERATIONS,
      'query',
      '`query`: a page of lines. `statistics`: numbers of lines and containers. `histogram`: lines by time. `export`: all lines as a file.',
    ),
    start_time: seconds('Start of the time range, in Unix seconds. Default: the first line.'),
    end_time: seconds('Last second of the time range, in Unix seconds. Default: now.'),
    namespaces: names('namespaces', MAX_NAMESPACES),
    namespace_query: fuzzy('namespaces'),
    workloads: names('workloads, recognised by the names of their pods'),
    workload_query: fuzzy('workloads'),
    pods: names('pods'),
    pod_query: fuzzy('pods'),
    containers: names('containers'),
    container_query: fuzzy('containers'),
    log_query: Type.Optional(
      Type.String({
        maxLength: MAX_LOG_QUERY,
        description: `Text that the line contains. \`phrase\` and \`prefix\`: up to ${MAX_TEXTS} alternatives, separated by commas. \`substring\` and \`regex\`: one text, which may contain commas.`,
      }),
    ),
    match: choice(
      MATCH_MODES,
      'prefix',
      '`phrase`: whole words. `prefix`: whole words, the last of which may be a beginning: `slow que` finds `slow query`; a text without words is a `substring`. `substring`: the literal text. `regex`: a regular expression that matches a part of the line.',
    ),
    case: choice(
      ['ignore', 'respect'] as const,
      'ignore',
      '`ignore`: case-insensitive. `respect`: case-sensitive.',
    ),
    level: Type.Optional(
      Type.Array(Type.Unsafe<Level>({ type: 'string', enum: [...LEVELS] }), {
        minItems: 1,
        description: 'Lines with one of these levels.',
      }),
    ),
    interval: Type.String({
      default: '15m',
      format: 'log-interval',
      description:
        'Width of the buckets of a histogram: a number and a unit of `s`, `m`, `h`, `d`, `w`, `M` (month), `q` (quarter), `y`.',
    }),
    time_zone: Type.String({
      default: 'UTC',
      format: 'time-zone',
      description: 'Time zone of the buckets, for instance `Europe/Berlin` or `+05:30`.',
    }),
    sort: choice(['desc', 'asc'] as const, 'desc', '`desc`: newest first. `asc`: oldest first.'),
    from: Type.Integer({
      minimum: 0,
      maximum: MAX_DEPTH,
      default: 0,
      description: `Lines to skip; with \`size\` at most ${MAX_DEPTH}. Use \`cursor\` for later pages.`,
    }),
    size: Type.Integer({
      minimum: 0,
      maximum: MAX_SIZE,
      default: 10,
      description: 'Lines of a page. 0 returns only the total.',
    }),
    cursor: Type.Optional(
      Type.String({
        maxLength: 4_096,
        description: 'The `cursor` of the previous page. Only `size` may change.',
      }),
    ),
    context: Type.Optional(
      Type.String({
        maxLength: 2_048,
        description: 'The `id` of a record: returns it and the lines around it, oldest first.',
      }),
    ),
    before: Type.Integer({
      minimum: 0,
      maximum: MAX_CONTEXT,
      default: 10,
      description: 'Lines before the record of `context`.',
    }),
    after: Type.Integer({
      minimum: 0,
      maximum: MAX_CONTEXT,
      default: 10,
      description: 'Lines after the record of `context`.',
    }),
    highlight: Type.Boolean({
      default: false,
      description: '`true`: adds the begin and exclusive end of each match, in UTF-16 code units.',
    }),
    severity: Type.Boolean({
      default: false,
      description:
        '`true`: adds the most severe level of each record, and the number of lines by this level to each bucket.',
    }),
    format: choice(
      EXPORT_FORMATS,
      'text',
      'Format of an export. `text`: only the lines, without time and names.',
    ),
    bom: Type.Boolean({
      default: true,
      description: 'Only for `format=csv`. `false`: no byte order mark, which Excel needs for UTF-8.',
    }),
    follow: Type.Boolean({
      default: false,
      description:
        '`true`: a live tail of new lines, as NDJSON, or with `Accept: text/event-stream` as Server-Sent Events.',
    }),
  },
  { additionalProperties: false },
);

export type LogQuery = Readonly<Static<typeof LogQuerySchema>>;
