// Parser of timestamps in the pod log API: RFC 3339, up to nine decimals, any time zone.
import { instantOf, parseInstant } from '../../store/instant.ts';
import type { Instant } from '../../store/log-store.ts';

/** More than the length of any timestamp. */
const MAX_LENGTH = 48;

export interface LineHead {
  readonly time: Instant;
  /** Index of the first character of the container's text. */
  readonly textStart: number;
}

/**
 * Parses the timestamp of the line at index `from`. Undefined for a line without one: an error message of the kubelet.
 */
export function parseLineHead(block: string, from: number): LineHead | undefined {
  const head = block.slice(from, from + MAX_LENGTH);
  const space = head.indexOf(' ');
  const time = parseInstant(head.slice(0, Math.max(0, space)));
  return time === undefined ? undefined : { time, textStart: from + space + 1 };
}

/**
 * Format of the kubelet since Kubernetes 1.19, whatever the container runtime writes (RFC3339NanoFixed in
 * k8s.io/cri-client). Applications often write other formats.
 */
const KUBELET_HEAD = /^[^. ]{19}\.\d{9}(?:Z|[+-]\d\d:\d\d) /;

/**
 * Parses the timestamp of a line before the range, which can be the end of a line whose start the kubelet omitted. The
 * application may have written the time there: other formats than that of the kubelet count only if the next line has
 * one, too, as in responses of virtual kubelets.
 */
export function parseUncertainHead(block: string, from: number): LineHead | undefined {
  const head = parseLineHead(block, from);
  if (!head || isKubeletHead(block, from)) return head;
  const next = block.indexOf('\n', from) + 1;
  return next > 0 && !isKubeletHead(block, next) && parseLineHead(block, next) ? head : undefined;
}

function isKubeletHead(block: string, from: number): boolean {
  return KUBELET_HEAD.test(block.slice(from, from + MAX_LENGTH));
}

/**
 * Lines of a log are out of order by at most this many seconds: a container runtime reads the clock before it writes
 * the line.
 */
export const DISORDER_S = 2;

/**
 * `sinceTime` of a request for the lines from `since` on: earlier by the possible disorder, so that no later part of a line
 * that starts at `since` is omitted, and rounded down to the second, because `sinceTime` has no fractions.
 */
export function sinceTime(since: Instant): string {
  return wholeSecond(shifted(since, -DISORDER_S));
}

function wholeSecond(instant: Instant): string {
  return `${instant.slice(0, 19)}Z`;
}

/** Adds seconds, which can be negative; the result is never before 1970. */
export function shifted(instant: Instant, seconds: number): Instant {
  const moved = Math.max(0, Date.parse(wholeSecond(instant)) + seconds * 1000);
  return `${instantOf(moved).slice(0, 20)}${instant.slice(20)}`;
}
