import type { Instant, LogRecord } from '../../../log-store.ts';
import type { LogSource } from '../pods/log-source.ts';
import { type LineFilter, whenPassed } from '../reading/line-filter.ts';
import type { OnLine } from '../reading/line-reader.ts';
import { keptLine, keptTime } from '../reading/ranked-line.ts';
import type { GivenLines } from './given-lines.ts';

export interface NewLinesOptions {
  readonly source: Pick<LogSource, 'namespace' | 'pod' | 'container'>;
  readonly begin: Instant;
  /** Lines of earlier streams. */
  readonly given: GivenLines;
  readonly filter: LineFilter;
  readonly give: (records: readonly LogRecord[]) => void;
  /** Told the time up to which everything was given. */
  readonly reached: (time: Instant) => void;
}

/** What one stream of a container's log has that was not given before, gathered until a piece of it has been read. */
export class NewLines {
  readonly #options: NewLinesOptions;
  #records: LogRecord[] = [];
  #reached: Instant = '';
  #first: Instant | undefined;

  constructor(options: NewLinesOptions) {
    this.#options = options;
  }

  /** The time of the first, whether it is wanted or not. */
  get first(): Instant | undefined {
    return this.#first;
  }

  readonly take: OnLine = (time, text) => {
    const { source, begin, given, filter } = this.#options;
    if (time < begin || !given.isNew(time)) return;
    this.#first ??= keptTime(time);
    if (time > this.#reached) this.#reached = time;
    return whenPassed(filter(text), () => {
      const { namespace, pod, container } = source;
      const line = keptLine(time, 0, 0, text);
      this.#records.push({ time: line.time, log: line.text, namespace, pod, container });
    });
  };

  readonly flush = (): void => {
    if (this.#records.length > 0) this.#options.give(this.#records);
    this.#records = [];
    this.#reached = keptTime(this.#reached);
    this.#options.reached(this.#reached);
  };
}
