// WholeLog: reads a log to its end. If a response does not end with a line, further responses show whether the log does
// not, either: kube-apiserver ends a response properly if the kubelet breaks off.
import type { ContainerLog } from './container-log.ts';
import { newKubeletError } from './kubelet-error.ts';
import { DISORDER_S, shifted, sinceTime } from './kubelet-time.ts';
import { type Extent, newExtent, type OnLine, type OpenLine } from './line-reader.ts';
import type { Ending, LogResponses, StreamRequest } from './log-response.ts';
import type { LogEntry, UntimedText } from './untimed-text.ts';

/** Maximum number of times that a log is read again because it ends elsewhere each time. */
const MAX_REPETITIONS = 3;
const ENDED_WITHIN_LINE = 'the response ended within a line';

export class WholeLog {
  readonly #responses: LogResponses;
  readonly #log: ContainerLog;
  readonly #request: StreamRequest;
  readonly #onLine: OnLine;
  readonly #extent: Extent;

  constructor(
    responses: LogResponses,
    log: ContainerLog,
    request: StreamRequest,
    onLine: OnLine,
    extent: Extent,
  ) {
    this.#responses = responses;
    this.#log = log;
    this.#request = request;
    this.#onLine = onLine;
    this.#extent = extent;
  }

  async read(): Promise<void> {
    const { untimed, open } = await this.#receive();
    const last = untimed ? await this.#readAfter(untimed) : open;
    if (last) await this.#readOpen(last);
  }

  /**
   * Continues after a response that ends with a text without a time, before any line of the range. It is no error
   * message of the kubelet if the log ends so, too, or if the text grows. Returns the incomplete last line of a
   * further response.
   */
  async #readAfter(untimed: UntimedText): Promise<OpenLine | undefined> {
    const { follow, since } = this.#request;
    if (follow || since === undefined) throw newKubeletError(untimed.start);
    let text = untimed;
    for (let repetition = 0; ; repetition++) {
      const end = await this.#lastEntry();
      if (!end) throw newKubeletError(text.start);
      if (text.is(end)) {
        await this.#pass({ time: end.time, text: end.text.replace(/\n$/, ''), ordinal: 0 });
        return undefined;
      }
      // The kubelet omits a last entry that is out of order. Then the log has no line in the range.
      if (text.endsWith(end) || end.time < sinceTime(since)) return undefined;
      if (repetition === MAX_REPETITIONS) throw newKubeletError(text.start);
      const next = await this.#receive();
      if (!next.untimed) return next.open;
      if (text.isContinuedBy(next.untimed)) return undefined;
      text = next.untimed;
    }
  }

  /**
   * Passes on an incomplete last line if the log ends there when it is read again. If the log has grown, the next last
   * line takes its place.
   */
  async #readOpen(open: OpenLine): Promise<void> {
    const { follow, lastLine } = this.#request;
    if (follow || lastLine !== 'confirmed') throw newKubeletError(ENDED_WITHIN_LINE);
    let last = open;
    for (let repetition = 0; repetition < MAX_REPETITIONS; repetition++) {
      const next = await this.#resume(last);
      if (!next) return;
      if (isSame(next, last) && next.text.startsWith(last.text)) return this.#pass(next);
      last = next;
    }
    // The log grows faster than it is read.
    const end = await this.#lastEntry();
    if (!end || end.time > shifted(last.time, DISORDER_S)) throw newKubeletError(ENDED_WITHIN_LINE);
    await this.#pass(last);
  }

  /** Reads the log from an incomplete line on. Returns the line with which it ends now, if that is incomplete, too. */
  async #resume(from: OpenLine): Promise<OpenLine | undefined> {
    let isFound = false;
    const fromThere: OnLine = (...line) => {
      isFound ||= isSame(from, { time: line[0], ordinal: line[2] });
      return isFound ? this.#onLine(...line) : undefined;
    };
    const again = newExtent();
    const request = { ...this.#request, since: from.time, limitBytes: undefined, tailLines: undefined };
    const { open, untimed } = await this.#responses.receive(this.#log, request, fromThere, again);
    this.#extent.truncated ||= again.truncated;
    this.#extent.hasPassed ||= again.hasPassed;
    // `until` of the request can have become earlier than the line.
    if (isFound || again.hasPassed || (open && isSame(from, open))) return open;
    if (untimed) throw newKubeletError(untimed.start);
    const end = await this.#lastEntry();
    // The application wrote the time: it is the end of a line that started before the range.
    if (end && end.time < sinceTime(from.time)) return undefined;
    // The log is rotated, or this response is interrupted, too.
    throw newKubeletError(ENDED_WITHIN_LINE);
  }

  /** Returns the last entry of the log; undefined if the log is empty. */
  async #lastEntry(): Promise<LogEntry | undefined> {
    const { podUID, signal, timeoutMs } = this.#request;
    let last: LogEntry | undefined;
    const onLine: OnLine = (time, text) => void (last = { time, text: `${text}\n` });
    const range = { since: undefined, tailLines: 1, lastLine: 'confirmed' } as const;
    const request = { podUID, ...range, signal, timeoutMs };
    const { open } = await this.#responses.receive(this.#log, request, onLine, newExtent());
    return open ?? last;
  }

  async #pass({ time, text, ordinal }: OpenLine): Promise<void> {
    this.#extent.first ??= time;
    this.#extent.lines++;
    await this.#onLine(time, text, ordinal);
    this.#request.flush?.();
  }

  #receive(): Promise<Ending> {
    return this.#responses.receive(this.#log, this.#request, this.#onLine, this.#extent);
  }
}

function isSame(a: Omit<OpenLine, 'text'>, b: Omit<OpenLine, 'text'>): boolean {
  return a.time === b.time && a.ordinal === b.ordinal;
}
