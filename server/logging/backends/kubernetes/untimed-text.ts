// UntimedText: a text without a time in a pod log response. It is the end of a line whose start the kubelet omitted, or
// an error message of the kubelet. Only its start and its end are kept.
import { parseLineHead } from './kubelet-time.ts';
import { detached } from './log-line.ts';

/** A log entry as the kubelet returns it, with its newline if it has one. */
export interface LogEntry {
  readonly time: string;
  readonly text: string;
}

const START = 300;
/** Longer than an entry of any container runtime with its default settings (16 KiB). */
const END = 32 << 10;

export class UntimedText {
  readonly start: string;
  readonly #end: string;
  readonly #length: number;

  /** `omitted`: number of characters that shortened() has removed. */
  constructor(text: string, omitted: number) {
    this.start = detached(text.slice(0, START));
    this.#end = detached(text.slice(-END));
    this.#length = text.length + omitted;
  }

  /** Removes characters that an UntimedText does not keep. */
  static shortened(text: string): string {
    return text.length <= START + END ? text : text.slice(0, START) + text.slice(-END);
  }

  endsWith({ text }: LogEntry): boolean {
    return this.#length >= text.length && this.#end.endsWith(text.slice(-END));
  }

  /** Whether the text is this entry with its time, which then has another format than that of the kubelet. */
  is({ time, text }: LogEntry): boolean {
    const head = this.#length === this.#end.length ? parseLineHead(this.#end, 0) : undefined;
    return head?.time === time && this.#end.slice(head.textStart) === text;
  }

  /** True for a part of a line that grows. An error message of the kubelet is repeated, or is another one. */
  isContinuedBy(later: UntimedText): boolean {
    return later.#length > this.#length && later.start.startsWith(this.start);
  }
}
