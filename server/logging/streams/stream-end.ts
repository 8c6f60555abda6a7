// Early end of a log export or live tail: preemption by another stream, or lost permissions.
import type { ServerResponse } from 'node:http';
import { newExpired } from '../../../apis/meta/v1/errors.ts';
import type { Scope, Selection } from '../store/log-store.ts';

export interface Preemptible {
  /** Aborted with the reason when another caller preempts the stream. */
  readonly preempted?: AbortSignal | undefined;
}

/** Time in ms in which a reader may read what was written before a preemption. */
const PREEMPTION_GRACE_MS = 2_000;

/** Aborts `over` when the stream is preempted. Closes the connection if the reader does not read the rest in time. */
export function endWhenPreempted(
  { preempted }: Preemptible,
  response: ServerResponse,
  over: AbortController,
): void {
  const end = (): void => {
    over.abort(preempted?.reason);
    const timer = setTimeout(() => response.destroy(), PREEMPTION_GRACE_MS);
    response.once('close', () => clearTimeout(timer));
  };
  if (preempted?.aborted) end();
  else preempted?.addEventListener('abort', end, { once: true });
}

export interface ReviewedSelection {
  /** Undefined when the caller may read nothing. */
  readonly selection: Selection | undefined;
  /** The selection by the current permissions. Rejects when the permissions are unknown. */
  readonly currentSelection: () => Promise<Selection | undefined>;
}

interface PermissionReviewOptions {
  readonly intervalMs: number;
  /** Whether the stream may continue, by its scope at the start and now. */
  readonly mayContinue: (start: Scope | undefined, current: Scope | undefined) => boolean;
  /** Consecutive failures that are tolerated. */
  readonly tolerance: number;
  /** Aborted, with the reason, when the stream must end. */
  readonly over: AbortController;
}

/** Reviews the permissions of a stream until it is disposed or `over` is aborted. */
export function reviewPermissions(
  { selection, currentSelection }: ReviewedSelection,
  { intervalMs, mayContinue, tolerance, over }: PermissionReviewOptions,
): Disposable {
  let failures = 0;
  let isReviewing = false;
  // A long stream must not return lines that a new query would not return.
  const review = async (): Promise<void> => {
    if (isReviewing) return;
    isReviewing = true;
    try {
      const current = await currentSelection();
      failures = 0;
      if (!mayContinue(selection?.scope, current?.scope)) {
        over.abort(newExpired('your permissions have changed; repeat the request'));
      }
    } catch (error) {
      failures++;
      if (failures > tolerance) over.abort(error);
    } finally {
      isReviewing = false;
    }
  };
  const timer = setInterval(() => void review(), intervalMs);
  const stop = (): void => clearInterval(timer);
  over.signal.addEventListener('abort', stop, { once: true });
  return { [Symbol.dispose]: stop };
}

export function isSameScope(start: Scope | undefined, current: Scope | undefined): boolean {
  return JSON.stringify(start) === JSON.stringify(current);
}

/** Whether `current` includes `start`. */
export function includesScope(start: Scope | undefined, current: Scope | undefined): boolean {
  if (!start || current?.everything) return true;
  if (!current || start.everything) return false;
  const since = new Map(current.namespaces.map((namespace) => [namespace.name, namespace.since]));
  return start.namespaces.every((namespace) => since.get(namespace.name) === namespace.since);
}
