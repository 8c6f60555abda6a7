// Defines the file formats of log exports. Each format has a marker for incomplete exports, and no log line can look
// like the marker.
import type { Shortfall } from '../../../apis/logging/v1alpha2/log-answer.ts';
import type { ExportFormat as FormatName } from '../../../apis/logging/v1alpha2/log-query.ts';
import type { LogRecord } from '../store/log-store.ts';

export interface ExportFormat {
  readonly contentType: string;
  /** File name extension, without a dot. */
  readonly extension: string;
  readonly head: string;
  lines(records: readonly LogRecord[], first: boolean): string;
  /** `empty`: the export has no lines. */
  end(shortfalls: readonly Shortfall[], empty: boolean): string;
}

/** First character of the last line of an incomplete text; removed from log lines. */
const TEXT_MARK = '\u0004';
/** Replaces the time in the last row of an incomplete CSV. */
const CSV_MARK = 'INCOMPLETE';

const CSV_COLUMNS = ['time', 'namespace', 'pod', 'container', 'log'] as const;

/** Matches cells that need an apostrophe or quotes. */
const NEEDS_CARE = /^[\p{Z}\p{C}]*[=+\-@＝＋－＠]|[",;\t\r\n]/u;
const NEEDS_QUOTES = /[",;\t\r\n]/;
/**
 * Matches where a formula begins; some programs remove blanks and invisible characters from the beginning of a cell. The
 * lookahead is first, so that the lookbehind does not run for each of many quotes or blanks.
 */
const FORMULA =
  /^(?=[\t\r\n]|[\p{Z}\p{C}]*[=+\-@＝＋－＠])|(?=[=+\-@＝＋－＠])(?<=[;\t\r\n]["\p{Z}\p{C}]*)/gu;

export const EXPORT_FORMATS: Readonly<Record<FormatName, ExportFormat>> = {
  text: {
    contentType: 'text/plain; charset=utf-8',
    extension: 'log',
    head: '',
    lines: (records) => records.map(({ log }) => `${plain(log)}\n`).join(''),
    end: (shortfalls) => shortfalls.map((each) => `${TEXT_MARK} incomplete: ${described(each)}\n`).join(''),
  },
  ndjson: {
    contentType: 'application/x-ndjson',
    extension: 'ndjson',
    head: '',
    lines: (records) => records.map((record) => `${json(record)}\n`).join(''),
    end: (shortfalls) => shortfalls.map((each) => `${JSON.stringify({ error: each })}\n`).join(''),
  },
  json: {
    contentType: 'application/json',
    extension: 'json',
    head: '[',
    lines: (records, first) => `${first ? '\n' : ',\n'}${records.map(json).join(',\n')}`,
    end: (shortfalls, empty) => {
      const marks = shortfalls.map((each) => JSON.stringify({ error: each }));
      const separator = empty ? '\n' : ',\n';
      return `${marks.length === 0 ? '' : separator}${marks.join(',\n')}\n]\n`;
    },
  },
  csv: {
    contentType: 'text/csv; charset=utf-8; header=present',
    extension: 'csv',
    head: row(CSV_COLUMNS),
    lines: (records) => records.map((record) => row(CSV_COLUMNS.map((column) => record[column]))).join(''),
    end: (shortfalls) => shortfalls.map((each) => row([CSV_MARK, '', '', '', described(each)])).join(''),
  },
};

/** Removes terminal sequences and replaces CR by LF, because a terminal overwrites the line after CR. */
function plain(log: string): string {
  if (!UNUSUAL.test(log)) return log;
  const text = withoutTerminalSequences(log.replaceAll(TEXT_MARK, '')).replace(/\r$/, '');
  return replaced(replaced(text, '\r\n', '\n'), '\r', '\n');
}

// oxlint-disable-next-line no-control-regex -- it finds control characters
const UNUSUAL = /[\0-\u0008\u000b-\u001f\u007f-\u0084\u0086-\u009f]/;

function json({ time, namespace, pod, container, log }: LogRecord): string {
  return JSON.stringify({ time, namespace, pod, container, log });
}

/** Replaces all occurrences, in a third of the time of `replaceAll`. */
function replaced(text: string, part: string, by: string): string {
  return text.split(part).join(by);
}

/** RFC 4180. */
function row(fields: readonly string[]): string {
  return `${fields.map(field).join(',')}\r\n`;
}

/**
 * Prefixes formulas with an apostrophe (CSV injection). In many locales a spreadsheet separates cells by semicolons and
 * ignores the quotes, so text after a semicolon, tab or newline may be a cell too.
 */
function field(value: string): string {
  if (!NEEDS_CARE.test(value)) return value;
  const text = value.replaceAll(FORMULA, "'");
  return NEEDS_QUOTES.test(text) ? `"${replaced(text, '"', '""')}"` : text;
}

function described({ reason, message }: Shortfall): string {
  return `${reason}: ${message.replaceAll(/\s+/g, ' ')}`;
}

/**
 * Terminal sequences (ECMA-48): control sequences such as colours, control strings such as titles, and escapes. No part can
 * begin inside another one, so matching takes linear time; the function of node:util takes minutes for some lines.
 */
const TERMINAL_SEQUENCES = new RegExp(
  [
    '(?:\\x1b\\[|\\x9b)[0-?]*[ -/]*[@-~]',
    '(?:\\x1b[\\]PX^_]|[\\x90\\x98\\x9d-\\x9f])[^\\x07\\x1b\\x80-\\x9f]*(?:\\x07|\\x1b\\\\|\\x9c)',
    '\\x1b[ -/]*[0-~]',
  ].join('|'),
  'g',
);
/** Control characters except tab, newlines and U+0085. */
// oxlint-disable-next-line no-control-regex -- it finds control characters
const CONTROLS = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f]/g;

function withoutTerminalSequences(text: string): string {
  // A removed sequence may have separated the halves of another one.
  return text.replaceAll(TERMINAL_SEQUENCES, '').replaceAll(CONTROLS, '');
}
