// The times that kubelets write before lines: RFC 3339 with nine digits, in the time zone of the node.
import { instantOf } from '../../../instant.ts';
import type { Instant } from '../../../log-store.ts';

/** Characters of an instant. */
const LENGTH = 30;
const OTHER = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))?(Z|[+-]\d{2}:\d{2}) /;

export interface StampedLine {
  readonly time: Instant;
  /** Where the container's own text begins. */
  readonly textStart: number;
}

/** The time of the line that begins at `from`; undefined when there is none: the text is then the kubelet's own message. */
export function timeAt(block: string, from: number): StampedLine | undefined {
  if (block.charCodeAt(from + LENGTH - 1) === 0x5a && block.charCodeAt(from + LENGTH) === 0x20) {
    if (block.charCodeAt(from + 4) === 0x2d && block.charCodeAt(from + 19) === 0x2e) {
      return { time: block.slice(from, from + LENGTH), textStart: from + LENGTH + 1 };
    }
  }
  const match = OTHER.exec(block.slice(from, from + 48));
  if (!match) return undefined;
  const [whole, seconds = '', fraction = '', zone = ''] = match;
  const milliseconds = Date.parse(`${seconds}${zone}`);
  if (Number.isNaN(milliseconds)) return undefined;
  const time = `${instantOf(milliseconds).slice(0, 20)}${fraction.padEnd(9, '0')}Z`;
  return { time, textStart: from + whole.length };
}

/** How far the lines of a log may be out of order, in seconds: what may lie between taking the time and writing. */
export const DISORDER_S = 2;

/** The start of the second, as the pod log API takes it: it knows no fractions. */
export function secondOf(instant: Instant): string {
  return `${instant.slice(0, 19)}Z`;
}

/** `instant` moved by whole seconds, not before the epoch. */
export function shifted(instant: Instant, seconds: number): Instant {
  const moved = Math.max(0, Date.parse(secondOf(instant)) + seconds * 1000);
  return `${instantOf(moved).slice(0, 20)}${instant.slice(20)}`;
}
