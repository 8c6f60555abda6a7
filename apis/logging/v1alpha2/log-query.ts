// JSON Schema of the parameters of a log query. log-query-validation.ts validates combinations of parameters.
import { type Static, Type } from 'typebox';

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
const MAX_NAMES = 1_000;
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
      '`query`: a page of lines. `statistics`: the number of lines and containers. `histogram`: the number of lines in each time interval. `export`: all lines as a file.',
    ),
    start_time: seconds(
      'Start of the time range, a Unix timestamp in whole seconds. Default: the first line.',
    ),
    end_time: seconds(
      'End of the time range, a Unix timestamp in whole seconds; the range includes this second. Default: now.',
    ),
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
      '`phrase`: the text as whole words. `prefix`: the same, but the last word may be the beginning of a word: `slow que` finds `slow query`. A text without words is matched as with `substring`. `substring`: the literal text. `regex`: a regular expression that matches a part of the line.',
    ),
    case: choice(
      ['ignore', 'respect'] as const,
      'ignore',
      '`ignore`: case-insensitive. `respect`: case-sensitive.',
    ),
    level: Type.Optional(
      Type.Array(Type.Unsafe<Level>({ type: 'string', enum: [...LEVELS] }), {
        minItems: 1,
        description: 'Lines with one of these levels, which the server detects in the text.',
      }),
    ),
    interval: Type.String({
      default: '15m',
      format: 'log-interval',
      description:
        'Width of the buckets of a histogram: a whole number and one of the units `s`, `m`, `h`, `d`, `w`, `M` (month), `q` (quarter), `y`.',
    }),
    time_zone: Type.String({
      default: 'UTC',
      format: 'time-zone',
      description: 'Time zone of the buckets of a histogram, for instance `Europe/Berlin` or `+05:30`.',
    }),
    sort: choice(['desc', 'asc'] as const, 'desc', '`desc`: newest lines first. `asc`: oldest lines first.'),
    from: Type.Integer({
      minimum: 0,
      maximum: MAX_DEPTH,
      default: 0,
      description: `Number of lines to skip. The sum of \`from\` and \`size\` is at most ${MAX_DEPTH}; use \`cursor\` for later pages.`,
    }),
    size: Type.Integer({
      minimum: 0,
      maximum: MAX_SIZE,
      default: 10,
      description: 'Maximum number of lines of a page. 0 returns only the total.',
    }),
    cursor: Type.Optional(
      Type.String({
        maxLength: 4_096,
        description:
          'The `cursor` of the previous page. All other parameters except `size` must be unchanged.',
      }),
    ),
    context: Type.Optional(
      Type.String({
        maxLength: 2_048,
        description:
          'The `id` of a record, to get it and the lines of its container around it, oldest first.',
      }),
    ),
    before: Type.Integer({
      minimum: 0,
      maximum: MAX_CONTEXT,
      default: 10,
      description: 'Maximum number of lines before the record of `context`.',
    }),
    after: Type.Integer({
      minimum: 0,
      maximum: MAX_CONTEXT,
      default: 10,
      description: 'Maximum number of lines after the record of `context`.',
    }),
    highlight: Type.Boolean({
      default: false,
      description: '`true`: each record has the positions of the matches, in UTF-16 code units.',
    }),
    severity: Type.Boolean({
      default: false,
      description:
        '`true`: each record has its most severe level, and each bucket of a histogram the number of lines by most severe level. Lines without a level have `none`.',
    }),
    format: choice(
      EXPORT_FORMATS,
      'text',
      'Format of an export. `text`: only the lines, without time and names.',
    ),
    bom: Type.Boolean({
      default: true,
      description:
        'Only for `format=csv`. `false`: no byte order mark, without which Excel does not read UTF-8.',
    }),
    follow: Type.Boolean({
      default: false,
      description:
        '`true`: a live tail of new lines, as NDJSON, or as Server-Sent Events with the header `Accept: text/event-stream`.',
    }),
  },
  { additionalProperties: false },
);

export type LogQuery = Readonly<Static<typeof LogQuerySchema>>;
