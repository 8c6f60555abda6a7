// Judges lines that the quick way leaves open (see text-filter.ts): here, where that costs nothing but their transfer.
import type { Instant, LogRecord, TextFilter } from '../../../log-store.ts';
import { isASCII } from '../../../matching/letter-case.ts';
import { type LineMatcher, lineMatcher } from '../../../matching/line-matcher.ts';
import type { Asking, Deadline } from '../requests/asking.ts';
import { recordFields, recordOf } from '../requests/record.ts';
import type { FieldNames } from '../selection/fields.ts';
import { quoted } from '../selection/logsql.ts';
import type { QuickQuestion } from '../selection/question.ts';

/** Beyond so many lines the store does it with the pattern that knows all letters. */
const MAX_LINES = 2_000;

/** What is kept of a line: lines may be long. */
export interface JudgedLine {
  readonly time: Instant;
  /** Empty where the store does not have it. */
  readonly containerID: string;
}

export class Judge {
  readonly #asking: Asking;
  readonly #fields: FieldNames;
  readonly #text: TextFilter | undefined;
  #matcher: LineMatcher | undefined;

  constructor(asking: Asking, fields: FieldNames, text: TextFilter | undefined) {
    this.#asking = asking;
    this.#fields = fields;
    this.#text = text;
  }

  /** Whether a line that the quick question found is wanted. Lines of ASCII it finds only when they are. */
  readonly isMeant = ({ log }: LogRecord): boolean => {
    if (this.#text?.mode !== 'phrase' && this.#text?.mode !== 'prefix') return true;
    if (isASCII(log)) return true;
    this.#matcher ??= lineMatcher(this.#text);
    return this.#matcher.matches(log);
  };

  /** Of the lines that the question leaves open, those that are wanted; undefined when they are too many. */
  async lines(question: QuickQuestion, deadline: Deadline): Promise<JudgedLine[] | undefined> {
    const { containerID } = this.#fields;
    const pipes = [
      `filter ${question.unsure}`,
      `${recordFields(this.#fields)}, ${quoted(containerID)}`,
      `limit ${MAX_LINES + 1}`,
    ];
    const judged: JudgedLine[] = [];
    let seen = 0;
    for await (const rows of this.#asking.rows(question, pipes, deadline)) {
      seen += rows.length;
      if (seen > MAX_LINES) return undefined;
      for (const row of rows) {
        if (this.#asking.turns.spent) await this.#asking.turns.next();
        const record = recordOf(row, this.#fields);
        const id = row[containerID];
        if (this.isMeant(record))
          judged.push({ time: record.time, containerID: typeof id === 'string' ? id : '' });
      }
    }
    return judged;
  }
}
