// Judges the lines that the quick question leaves open (see text-filter.ts) here, which costs only their transfer.
import { isRecord, text } from '../../../../../apis/reading/unknown-value.ts';
import type { Deadline } from '../../../deadline.ts';
import type { Instant, LogRecord, TextFilter } from '../../../log-store.ts';
import { type LineMatcher, lineMatcher } from '../../../matching/line-matcher.ts';
import type { Queries } from '../requests/queries.ts';
import { recordFieldNames, recordOf } from '../requests/record.ts';
import { newNonsense } from '../requests/refusal.ts';
import { numberIn } from '../requests/row-values.ts';
import type { Row } from '../requests/rows.ts';
import type { FieldNames } from '../selection/fields.ts';
import { isAtMost, quoted } from '../selection/logsql.ts';
import type { QuickQuestion } from '../selection/question.ts';

/** How many open lines come along with a count, and how long each may be, in characters: the store holds them meanwhile. */
const ALONG = { lines: 1_000, length: 1_000 };
/** With more lines, the store is asked with the exact pattern instead. */
const MAX_LINES = 2_000;

const NOT_ASCII = /[^\0-\x7f]/;

/** What is kept of a line: lines may be long. */
export interface JudgedLine {
  readonly time: Instant;
  /** Empty where the store does not have it. */
  readonly containerID: string;
}

export interface Judged {
  /** How many lines the question left open. */
  readonly unsure: number;
  /** Of these, the ones that are wanted. */
  readonly lines: readonly JudgedLine[];
}

export class Judge {
  readonly #queries: Queries;
  readonly #fields: FieldNames;
  readonly #text: TextFilter | undefined;
  #matcher: LineMatcher | undefined;

  constructor(queries: Queries, fields: FieldNames, text: TextFilter | undefined) {
    this.#queries = queries;
    this.#fields = fields;
    this.#text = text;
  }

  /** Whether a line that the quick question found is wanted. Lines of ASCII it finds only when they are. */
  readonly isMeant = ({ log }: LogRecord): boolean => {
    if (this.#text?.mode !== 'phrase' && this.#text?.mode !== 'prefix') return true;
    if (!NOT_ASCII.test(log)) return true;
    this.#matcher ??= lineMatcher(this.#text);
    return this.#matcher.matches(log);
  };

  /**
   * What to count with: how many lines the question leaves open, and the lines themselves where they are few and short.
   * `rows`: what else is counted comes in so many.
   */
  counted({ unsure }: QuickQuestion, rows: number): string {
    const count = `count() if (${unsure}) as unsure`;
    const limit = Math.floor(ALONG.lines / rows);
    if (limit === 0) return count;
    const short = isAtMost(this.#fields.message, ALONG.length);
    return `${count}, json_values(${this.#names()}) limit ${limit} if (${short} ${unsure}) as open`;
  }

  /** Of the rows that were counted so; undefined when the lines that were left open are too many. */
  async judged(
    rows: readonly Row[],
    question: QuickQuestion,
    deadline: Deadline,
  ): Promise<Judged | undefined> {
    const unsure = rows.reduce((sum, row) => sum + numberIn(row, 'unsure'), 0);
    const open = rows.flatMap(linesAlong);
    const lines =
      open.length === unsure ? await this.#meant(open) : await this.#linesAsked(question, deadline);
    return lines && { unsure, lines };
  }

  async #linesAsked(question: QuickQuestion, deadline: Deadline): Promise<JudgedLine[] | undefined> {
    const pipes = [`filter ${question.unsure}`, `fields ${this.#names()}`, `limit ${MAX_LINES + 1}`];
    const judged: JudgedLine[] = [];
    let seen = 0;
    for await (const rows of this.#queries.rows(question, pipes, deadline)) {
      seen += rows.length;
      if (seen > MAX_LINES) return undefined;
      judged.push(...(await this.#meant(rows)));
    }
    return judged;
  }

  async #meant(rows: readonly Row[]): Promise<JudgedLine[]> {
    const { turns } = this.#queries;
    const judged: JudgedLine[] = [];
    for (const row of rows) {
      if (turns.spent) await turns.next();
      const record = recordOf(row, this.#fields);
      const id = row[this.#fields.containerID];
      if (this.isMeant(record)) judged.push({ time: record.time, containerID: text(id) });
    }
    return judged;
  }

  #names(): string {
    return [...recordFieldNames(this.#fields), this.#fields.containerID].map(quoted).join(', ');
  }
}

/** Whether the question left lines open that the row counts. */
export function isUnsure(row: Row): boolean {
  return numberIn(row, 'unsure') > 0;
}

/** A list in JSON of the lines, each in JSON by itself. */
function linesAlong({ open }: Row): Row[] {
  if (open === undefined) return [];
  const lines = parsed(open);
  if (!Array.isArray(lines)) throw newNonsense('lines that are no list');
  return lines.map((line) => {
    const row = parsed(line);
    if (!isRecord(row)) throw newNonsense('a line that is no object');
    return row;
  });
}

function parsed(text: unknown): unknown {
  try {
    return typeof text === 'string' ? JSON.parse(text) : undefined;
  } catch {
    return undefined;
  }
}
