// How an export is written: each format with its head, its lines and what stands at the end when something is missing.
// That marker cannot be taken for a line; docs/logs.md says how to tell it.
import type { Shortfall } from '../../../apis/logging/v1alpha2/log-answer.ts';
import type { ExportFormat as FormatName } from '../../../apis/logging/v1alpha2/log-query.ts';
import type { LogRecord } from '../log-store.ts';
import { withoutCommands } from './terminal-commands.ts';

export interface ExportFormat {
  readonly contentType: string;
  /** Of the file, without a dot. */
  readonly extension: string;
  readonly head: string;
  lines(records: readonly LogRecord[], first: boolean): string;
  /** Whether the NDJSON of a batch is what `lines` would make of it. */
  readonly isNDJSON?: boolean;
  /** `empty`: no line stands before it. */
  end(shortfalls: readonly Shortfall[], empty: boolean): string;
}

/** Begins the last line of an incomplete text. It is removed from log lines, so none can begin like that. */
const TEXT_MARK = '\u0004';
/** Replaces the time in the last row of an incomplete CSV. */
const CSV_MARK = 'INCOMPLETE';

const CSV_COLUMNS = ['time', 'namespace', 'pod', 'container', 'log'] as const;

/** Cells that are not written as they are, or not without quotes. */
const MAY_BE_MORE = /^[=+\-@＝＋－＠]|[",;\t\r\n]/;
const MORE_THAN_TEXT = /[",;\t\r\n]/;
/** The look ahead comes first: else each of many quotes would be looked back from. */
const FORMULA = /^(?=[=+\-@\t\r\n＝＋－＠])|(?=[=+\-@＝＋－＠])(?<=[;\t\r\n]"*)/g;

export const EXPORT_FORMATS: Readonly<Record<FormatName, ExportFormat>> = {
  text: {
    contentType: 'text/plain; charset=utf-8',
    extension: 'log',
    head: '',
    lines: (records) => records.map(({ log }) => `${plain(log)}\n`).join(''),
    end: (shortfalls) => shortfalls.map((each) => `${TEXT_MARK} incomplete: ${inWords(each)}\n`).join(''),
  },
  ndjson: {
    contentType: 'application/x-ndjson',
    extension: 'ndjson',
    head: '',
    isNDJSON: true,
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
    end: (shortfalls) => shortfalls.map((each) => row([CSV_MARK, '', '', '', inWords(each)])).join(''),
  },
};

/**
 * Without colour codes, which mean nothing in a file; newlines within the line as Unix has them, also those of a
 * carriage return alone, behind which terminals write over what was before.
 */
function plain(log: string): string {
  if (!UNUSUAL.test(log)) return log;
  return withoutCommands(log.replaceAll(TEXT_MARK, '')).replace(/\r$/, '').replaceAll(/\r\n?/g, '\n');
}

// oxlint-disable-next-line no-control-regex -- control characters are what it looks for
const UNUSUAL = /[\0-\u0008\u000b-\u001f\u007f-\u0084\u0086-\u009f]/;

function json({ time, namespace, pod, container, log }: LogRecord): string {
  return JSON.stringify({ time, namespace, pod, container, log });
}

/** RFC 4180. */
function row(fields: readonly string[]): string {
  return `${fields.map(field).join(',')}\r\n`;
}

/**
 * A spreadsheet must not take a line for a formula: an apostrophe in front keeps it text. In many languages it parts cells at
 * semicolons instead of commas, wherever the quotes are, so what stands behind one, a tab or a newline may be a cell too.
 */
function field(value: string): string {
  if (!MAY_BE_MORE.test(value)) return value;
  const text = value.replaceAll(FORMULA, "'");
  return MORE_THAN_TEXT.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function inWords({ reason, message }: Shortfall): string {
  return `${reason}: ${message.replaceAll(/\s+/g, ' ')}`;
}
