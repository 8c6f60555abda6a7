import type { Shortfall } from '../../../../../apis/logging/v1alpha2/log-answer.ts';
import type { Instant } from '../../../log-store.ts';
import { PAGE_CUT } from '../../../page-limit.ts';
import type { LeftOut } from '../pods/source-selection.ts';

/** Names that a message lists before it only counts. */
const NAMED = 5;

/** Collects what an answer does not cover, and reports each kind once. */
export class Shortfalls {
  readonly #failed = new Set<string>();
  readonly #gone = new Set<string>();
  readonly #rotated = new Set<string>();
  readonly #restarted = new Set<string>();
  readonly #tooLong = { newest: new Set<string>(), oldest: new Set<string>() };
  readonly #leftOut: LeftOut;
  #keptFrom: Instant | undefined;
  #cutLines = 0;
  #linesAreCounted = false;
  #pageCut = false;
  #linesShortened = false;
  #podsSilentMs = 0;
  #timedOut = 0;

  /** `leftOut`: containers that are beyond the number that one query reads. */
  constructor(leftOut: LeftOut) {
    this.#leftOut = leftOut;
  }

  /** The kubelet did not give the log, or not all of it. */
  failed(name: string): void {
    this.#failed.add(name);
  }

  /** The pod, or its log, was removed while it was to be read. */
  gone(name: string): void {
    this.#gone.add(name);
  }

  /** The container wrote before `keptFrom`, or may have, and the kubelet has nothing of it. */
  rotated(name: string, keptFrom: Instant): void {
    this.#rotated.add(name);
    if (this.#keptFrom === undefined || keptFrom > this.#keptFrom) this.#keptFrom = keptFrom;
  }

  /** Another run has taken the place of this log since it was chosen: what was read may be that one's. */
  restarted(name: string): void {
    this.#restarted.add(name);
  }

  /** `read`: which lines of the log, within the time asked for, were read. */
  tooLong(name: string, read: 'newest' | 'oldest'): void {
    this.#tooLong[read].add(name);
  }

  cutLines(count: number): void {
    if (!this.#linesAreCounted) this.#cutLines += count;
  }

  /** From now on lines are read a second time. */
  linesAreCounted(): void {
    this.#linesAreCounted = true;
  }

  pageCut(): void {
    this.#pageCut = true;
  }

  /** Some line was not searched to its end. */
  lineShortened(): void {
    this.#linesShortened = true;
  }

  /** The cluster has not reported its pods for this long. */
  podsUnknown(silentMs: number): void {
    this.#podsSilentMs = silentMs;
  }

  /** `unread`: logs that were not read to their end. */
  timedOut(unread: number): void {
    this.#timedOut = unread;
  }

  list(): Shortfall[] {
    const found: Shortfall[] = [];
    const say = (reason: Shortfall['reason'], message: string | false): void => {
      if (message) found.push({ reason, message });
    };
    const timedOut = this.#timedOut;
    say('Timeout', timedOut > 0 && `the time was up before ${logs(timedOut)} had been read to the end`);
    say(
      'Limit',
      counted(
        this.#leftOut.names,
        'left out, because one query reads no more containers; ask for fewer',
        this.#leftOut.count,
      ),
    );
    const { newest, oldest } = this.#tooLong;
    say('Limit', counted(newest, 'so long that only the newest lines were read'));
    say('Limit', counted(oldest, 'so long that only the oldest lines of that time were read'));
    say('Limit', this.#cutLines === 1 && '1 line was too long, and was cut');
    say('Limit', this.#cutLines > 1 && `${this.#cutLines} lines were too long, and were cut`);
    if (this.#pageCut) found.push(PAGE_CUT);
    say(
      'Limit',
      this.#linesShortened &&
        'lines are too long for a pattern of this size, which was looked for at their beginning alone',
    );
    say(
      'NotCovered',
      counted(this.#failed, 'not read to the end, because the kubelet did not answer as it should'),
    );
    say('NotCovered', counted(this.#gone, 'not read to the end, because the pod or its log was removed'));
    const anew = 'perhaps not read to the end, because the container started anew meanwhile';
    say('NotCovered', counted(this.#restarted, anew));
    const silentS = Math.round(this.#podsSilentMs / 1000);
    say(
      'NotCovered',
      silentS > 0 && `of pods that came in the last ${silentS} s the cluster has told nothing`,
    );
    const kept = `kept from ${this.#keptFrom ?? ''} on at the latest, older lines are no longer there`;
    say('NotCovered', counted(this.#rotated, kept));
    return found;
  }
}

function counted(names: Iterable<string>, what: string, known?: number): string | false {
  const all = [...names].toSorted();
  if (all.length === 0) return false;
  const count = known ?? all.length;
  const more = count > NAMED ? ` and ${count - NAMED} more` : '';
  return `${logs(count)} ${count === 1 ? 'was' : 'were'} ${what}: ${all.slice(0, NAMED).join(', ')}${more}`;
}

function logs(count: number): string {
  return count === 1 ? '1 log' : `${count} logs`;
}
