// The parameters of a log query: each once, as JSON Schema. Validation, types and documentation come from here. What
// one parameter says about another (end before start, `cursor` with `from`) is log-query-faults.ts' business.
import { type Static, Type } from 'typebox';

const OPERATIONS = ['query', 'statistics', 'histogram', 'export'] as const;

const MATCH_MODES = ['phrase', 'prefix', 'substring', 'regex'] as const;
export type MatchMode = (typeof MATCH_MODES)[number];

export const LEVELS = ['debug', 'info', 'warn', 'error', 'fatal'] as const;
export type Level = (typeof LEVELS)[number];

const EXPORT_FORMATS = ['text', 'ndjson', 'json', 'csv'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** Names in one list. */
const MAX_NAMES = 1_000;
/** Consoles name all namespaces of a workspace, and clusters have thousands. */
const MAX_NAMESPACES = 5_000;
/** Texts that one `log_query` asks for: consoles send whole lines, and commas separate the members of a JSON document. */
export const MAX_TEXTS = 50;
/** Characters of one text or pattern. */
export const MAX_TEXT = 1_000;
/** Characters of all texts together. */
const MAX_LOG_QUERY = 20_000;
/** Words of all texts together: a store may be asked for each by a pattern of kilobytes. */
export const MAX_WORDS = 200;
/** Ten digits: the last second is in the year 2286; a value in milliseconds has thirteen. */
export const MAX_SECONDS = 9_999_999_999;
/** Lines of one page. */
export const MAX_SIZE = 1_000;
/** Lines of one page with those that it skips: what OpenSearch looks at for one, and how deep consoles go. Deeper pages go by cursor. */
export const MAX_DEPTH = 10_000;
/** Lines before and after one record. */
const MAX_CONTEXT = 500;

const NAME = Type.String({ minLength: 1, maxLength: 253 });

const names = (what: string, maxItems = MAX_NAMES) =>
  Type.Optional(
    Type.Array(NAME, {
      minItems: 1,
      maxItems,
      description: `${what}: exact names, separated by commas. Empty: as if it were not given.`,
    }),
  );
const fuzzy = (what: string) =>
  Type.Optional(
    Type.Array(NAME, {
      minItems: 1,
      maxItems: MAX_NAMES,
      description: `${what} with one of these texts in the name, separated by commas. Case does not count.`,
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
      '`query`: a page of lines; `statistics`: how many lines and containers; `histogram`: lines by time; `export`: all lines, as a file.',
    ),
    start_time: seconds(
      'First second, a Unix timestamp in whole seconds. None: from the first line that there is.',
    ),
    end_time: seconds('Last second, a Unix timestamp in whole seconds; all of it counts. None: up to now.'),
    namespaces: names('Namespaces', MAX_NAMESPACES),
    namespace_query: fuzzy('Namespaces'),
    workloads: names('Workloads, told by the names that their controllers give to pods'),
    workload_query: fuzzy('Workloads'),
    pods: names('Pods'),
    pod_query: fuzzy('Pods'),
    containers: names('Containers'),
    container_query: fuzzy('Containers'),
    log_query: Type.Optional(
      Type.String({
        maxLength: MAX_LOG_QUERY,
        description: `What a line says. With \`match=phrase\` and \`match=prefix\` up to ${MAX_TEXTS} texts separated by commas, one of which has to be there; with \`substring\` and \`regex\` one text, in which a comma is a comma.`,
      }),
    ),
    match: choice(
      MATCH_MODES,
      'prefix',
      '`phrase`: whole words, in this order, next to each other; `prefix`: the same, where the last word may go on, and without any word as `substring`; `substring`: the text as it stands; `regex`: a regular expression that finds a part of the line.',
    ),
    case: choice(['ignore', 'respect'] as const, 'ignore', 'Whether upper and lower case count as the same.'),
    level: Type.Optional(
      Type.Array(Type.Unsafe<Level>({ type: 'string', enum: [...LEVELS] }), {
        minItems: 1,
        description: 'Lines that call themselves one of these levels, separated by commas.',
      }),
    ),
    interval: Type.String({
      default: '15m',
      format: 'log-interval',
      description:
        'Width of the buckets of a histogram: a whole number with `s`, `m`, `h`, `d`, `w`, `M` (month), `q` (quarter) or `y`.',
    }),
    time_zone: Type.String({
      default: 'UTC',
      format: 'time-zone',
      description: 'Time zone, as `Europe/Berlin` or `+05:30`, in which the days of a histogram begin.',
    }),
    sort: choice(['desc', 'asc'] as const, 'desc', 'Newest first, or oldest first.'),
    from: Type.Integer({
      minimum: 0,
      maximum: MAX_DEPTH,
      default: 0,
      description: `Lines to skip; up to ${MAX_DEPTH} together with \`size\`. Deeper pages go by \`cursor\`.`,
    }),
    size: Type.Integer({
      minimum: 0,
      maximum: MAX_SIZE,
      default: 10,
      description: 'Lines of a page; 0 is none, only the total.',
    }),
    cursor: Type.Optional(
      Type.String({
        maxLength: 4_096,
        description:
          'Goes on where the page with this cursor ended; everything else must be asked as it was, except `size`.',
      }),
    ),
    context: Type.Optional(
      Type.String({
        maxLength: 2_048,
        description: '`id` of a record: the lines around it, of the same container, oldest first.',
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
      description: 'Whether records tell where in the line the texts are, in UTF-16 code units.',
    }),
    format: choice(EXPORT_FORMATS, 'text', 'Format of an export. `text`: the lines alone.'),
    follow: Type.Boolean({
      default: false,
      description:
        'Lines as they come, until the caller goes away: NDJSON, or Server-Sent Events for callers that accept `text/event-stream`.',
    }),
  },
  { additionalProperties: false },
);

/** All that is given must hold. */
export type LogQuery = Readonly<Static<typeof LogQuerySchema>>;
