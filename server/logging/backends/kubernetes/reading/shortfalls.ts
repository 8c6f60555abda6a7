// Collects what a response does not cover, and reports each reason once.
import type { Shortfall } from '../../../../../apis/logging/v1alpha2/log-answer.ts';
import type { Instant } from '../../../log-store.ts';
import { PAGE_CUT } from '../../../page-limit.ts';
import { type ContainerLog, displayName } from '../pods/container-log.ts';
import type { OmittedContainers } from '../pods/log-selection.ts';

/** Maximum number of log names in a message. */
const MAX_NAMES = 5;

export class Shortfalls {
  readonly #omitted: OmittedContainers;
  readonly #failed = new Set<string>();
  readonly #gone = new Set<string>();
  readonly #rotated = new Set<string>();
  readonly #restarted = new Set<string>();
  readonly #tooLong = new Set<string>();
  #keptFrom: Instant = '';
  #unread = 0;
  #podsSilentMs = 0;
  #linesTruncated = false;
  #partlySearched = false;
  #pageCut = false;

  constructor(omitted: OmittedContainers) {
    this.#omitted = omitted;
  }

  /** The kubelet did not return the log, or not all of it. */
  failed(log: ContainerLog): void {
    this.#failed.add(displayName(log));
  }

  /** The pod or its log was deleted before it was read. */
  gone(log: ContainerLog): void {
    this.#gone.add(displayName(log));
  }

  /** The kubelet has no lines from before `keptFrom` any more. */
  rotated(log: ContainerLog, keptFrom: Instant): void {
    this.#rotated.add(displayName(log));
    if (keptFrom > this.#keptFrom) this.#keptFrom = keptFrom;
  }

  /** The container restarted during the query, so lines can be from the next run. */
  restarted(log: ContainerLog): void {
    this.#restarted.add(displayName(log));
  }

  /** Lines in the middle of the log were not read. */
  tooLong(log: ContainerLog): void {
    this.#tooLong.add(displayName(log));
  }

  linesTruncated(): void {
    this.#linesTruncated = true;
  }

  partlySearched(): void {
    this.#partlySearched = true;
  }

  pageCut(): void {
    this.#pageCut = true;
  }

  /** The watch of pods has been silent for this long. */
  podsUnknown(silentMs: number): void {
    this.#podsSilentMs = silentMs;
  }

  /** `unread`: number of logs that were not read to the end in time. */
  timedOut(unread: number): void {
    this.#unread = unread;
  }

  list(): Shortfall[] {
    const found: Shortfall[] = [];
    const add = (reason: Shortfall['reason'], isMissing: boolean, message: string): void => {
      if (isMissing) found.push({ reason, message });
    };
    const addLogs = (
      reason: Shortfall['reason'],
      names: ReadonlySet<string> | readonly string[],
      what: string,
      count?: number,
    ): void => {
      const all = [...names];
      if (all.length > 0) found.push({ reason, message: messageOf(all, what, count) });
    };
    const { names, count } = this.#omitted;
    add(
      'Timeout',
      this.#unread > 0,
      `the time limit ended before ${countOf(this.#unread)} were read to the end`,
    );
    addLogs('Limit', names, 'not read, because one query reads no more containers; select fewer', count);
    addLogs('Limit', this.#tooLong, 'too long: only the oldest and the newest lines were read');
    add('Limit', this.#linesTruncated, 'lines longer than 1 MiB were truncated');
    if (this.#pageCut) found.push(PAGE_CUT);
    add(
      'Limit',
      this.#partlySearched,
      'only the start of some long lines was searched, because the pattern is too expensive for all of them',
    );
    addLogs('NotCovered', this.#failed, 'not read to the end, because the kubelet did not respond correctly');
    addLogs('NotCovered', this.#gone, 'not read to the end, because the pod or its log was deleted');
    addLogs('NotCovered', this.#restarted, 'possibly not read to the end, because the container restarted');
    const silentS = Math.round(this.#podsSilentMs / 1000);
    add('NotCovered', silentS > 0, `pods that were created in the last ${silentS} s can be missing`);
    addLogs('NotCovered', this.#rotated, `rotated: lines before ${this.#keptFrom} at the latest are deleted`);
    return found;
  }
}

function messageOf(names: readonly string[], what: string, count = names.length): string {
  const more = count > MAX_NAMES ? ` and ${count - MAX_NAMES} more` : '';
  return `${countOf(count)} ${what}: ${names.toSorted().slice(0, MAX_NAMES).join(', ')}${more}`;
}

function countOf(logs: number): string {
  return logs === 1 ? '1 log' : `${logs} logs`;
}
