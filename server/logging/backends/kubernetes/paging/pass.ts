import type { Instant, Total } from '../../../log-store.ts';
import { type LogSource, nameOf } from '../pods/log-source.ts';
import type { PodIndex } from '../pods/pod-index.ts';
import { isReplaced } from '../pods/source-selection.ts';
import type { LineFilter } from '../reading/line-filter.ts';
import { type SurveyOptions, survey, type Tally } from '../reading/survey.ts';
import type { Window } from './page-window.ts';

export type Wanted = (time: string, text: string) => boolean;
export type TallyFor = (source: LogSource, rank: number, wanted: Wanted) => Tally;

export interface PassOptions extends Omit<SurveyOptions, 'tally' | 'isCounting'> {
  readonly filter: LineFilter;
  readonly pods: Pick<PodIndex, 'get'>;
}

/** The logs of one question, to be read as a whole or by windows of time. */
export class Pass {
  readonly #options: PassOptions;

  constructor(options: PassOptions) {
    this.#options = options;
  }

  get sources(): readonly LogSource[] {
    return this.#options.sources;
  }

  get shortfalls(): PassOptions['shortfalls'] {
    return this.#options.shortfalls;
  }

  /** Whether the time is up. */
  get isOver(): boolean {
    return this.#options.deadline.aborted;
  }

  /** Every line of the selection. */
  async readAll(tallyFor: TallyFor): Promise<void> {
    const { beginOf, end } = this.#options;
    await this.#read(beginOf, end, true, tallyFor);
  }

  /** The lines of a window that the tallies still take. */
  async readWindow({ from, to }: Window, tallyFor: TallyFor): Promise<void> {
    const { beginOf } = this.#options;
    const later = (namespace: string): Instant => {
      const begin = beginOf(namespace);
      return begin > from ? begin : from;
    };
    await this.#read(later, to, false, tallyFor);
  }

  /** What is not covered might hold more lines. */
  total(count: number): Total {
    return { count, relation: this.relation };
  }

  get relation(): Total['relation'] {
    return this.shortfalls.list().length > 0 ? 'gte' : 'eq';
  }

  async #read(
    beginOf: (namespace: string) => Instant,
    end: Instant,
    isCounting: boolean,
    tallyFor: TallyFor,
  ): Promise<void> {
    const { filter, sources, pods, shortfalls } = this.#options;
    await survey({
      ...this.#options,
      beginOf,
      end,
      isCounting,
      tally: (source, rank) => tallyFor(source, rank, wantedBetween(beginOf(source.namespace), end, filter)),
    });
    for (const source of sources) if (isReplaced(source, pods)) shortfalls.restarted(nameOf(source));
  }
}

/** Whether a line lies in the range and says what was asked for. */
function wantedBetween(begin: Instant, end: Instant, filter: LineFilter): Wanted {
  return (time, text) => time >= begin && time < end && filter(text);
}
