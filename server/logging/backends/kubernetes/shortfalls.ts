// Reasons why the result of a pod log query is partial. A message names at most five logs.
import type { Shortfall } from '../../../../apis/logging/v1alpha2/log-answer.ts';
import { type ContainerLog, displayName } from './container-log.ts';
import type { OmittedContainers } from './log-selection.ts';

type Reason = Shortfall['reason'];

const REASONS: readonly Reason[] = ['Timeout', 'Limit', 'ShardFailed', 'NotCovered'];
/** Maximum number of logs that a message lists. */
const MAX_NAMES = 5;

export class Shortfalls {
  readonly #messages = new Map<string, Reason>();
  /** Logs (`namespace/pod/container`) by the text of their shortfall. */
  readonly #logs = new Map<
    string,
    { readonly reason: Reason; readonly names: Set<string>; count?: number }
  >();

  constructor({ count, names }: OmittedContainers) {
    const what = 'not read, because one query reads no more containers; select fewer';
    if (count > 0) this.#logs.set(what, { reason: 'Limit', names: new Set(names), count });
  }

  /** Adds a message that is not about a single log; equal messages are combined. */
  add(reason: Reason, message: string): void {
    this.#messages.set(message, reason);
  }

  /**
   * `what`: text of the shortfall, such as `rotated`, by which logs are combined. `detail`: suffix of this log's name.
   */
  addLog(reason: Reason, what: string, log: ContainerLog, detail = ''): void {
    let entry = this.#logs.get(what);
    if (!entry) this.#logs.set(what, (entry = { reason, names: new Set() }));
    entry.names.add(`${displayName(log)}${detail}`);
  }

  /** Replaces the message about the time limit. `unread`: number of logs that were not read to the end. */
  timedOut(unread: number): void {
    if (unread === 0) return;
    for (const [message, reason] of this.#messages) if (reason === 'Timeout') this.#messages.delete(message);
    this.add(
      'Timeout',
      `the time limit ended before ${countOf(unread)} ${unread === 1 ? 'was' : 'were'} read to the end`,
    );
  }

  /** The shortfalls, sorted by reason. */
  list(): Shortfall[] {
    const logs = [...this.#logs].map(([what, { reason, names, count = names.size }]) => {
      const more = count > MAX_NAMES ? ` and ${count - MAX_NAMES} more` : '';
      const listed = [...names].toSorted().slice(0, MAX_NAMES).join(', ');
      return { reason, message: `${countOf(count)} ${what}: ${listed}${more}` };
    });
    const others = [...this.#messages].map(([message, reason]) => ({ reason, message }));
    return [...logs, ...others].toSorted((a, b) => REASONS.indexOf(a.reason) - REASONS.indexOf(b.reason));
  }
}

function countOf(logs: number): string {
  return logs === 1 ? '1 log' : `${logs} logs`;
}
