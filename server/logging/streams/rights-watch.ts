// Looks again and again at what the caller of a stream may see: what runs for long must not show what a new query would
// be refused.
import { newExpired } from '../../../apis/meta/v1/errors.ts';
import type { Scope, Selection } from '../log-store.ts';

export interface WatchedRights {
  /** What the store was asked for. Undefined when there is nothing that the caller may see. */
  readonly selection: Selection | undefined;
  /** What the caller may see at the moment. Rejects when that is not known. */
  readonly currentSelection: () => Promise<Selection | undefined>;
}

export interface RightsWatchOptions {
  /** Ms between two looks. */
  readonly everyMs: number;
  /** Whether it may go on, by what the caller could see when it began, and can now. */
  readonly goesOn: (begun: Scope | undefined, current: Scope | undefined) => boolean;
  /** Looks in a row that may fail. */
  readonly patience: number;
  /** Aborted when it may not go on, with the reason. */
  readonly over: AbortController;
}

/** Until it is disposed, or `over` is aborted. */
export function watchRights(
  { selection, currentSelection }: WatchedRights,
  { everyMs, goesOn, patience, over }: RightsWatchOptions,
): Disposable {
  let failures = 0;
  let isLooking = false;
  const look = async (): Promise<void> => {
    if (isLooking) return;
    isLooking = true;
    try {
      const current = await currentSelection();
      failures = 0;
      if (!goesOn(selection?.scope, current?.scope))
        over.abort(newExpired('what you may see has changed; ask again'));
    } catch (error) {
      failures++;
      if (failures > patience) over.abort(error);
    } finally {
      isLooking = false;
    }
  };
  const timer = setInterval(() => void look(), everyMs);
  const stop = (): void => clearInterval(timer);
  over.signal.addEventListener('abort', stop, { once: true });
  return { [Symbol.dispose]: stop };
}

/** Neither less nor more. */
export function isSame(begun: Scope | undefined, current: Scope | undefined): boolean {
  return JSON.stringify(begun) === JSON.stringify(current);
}

/** The same, or more. */
export function isNotLess(begun: Scope | undefined, current: Scope | undefined): boolean {
  if (!begun || current?.everything) return true;
  if (!current || begun.everything) return false;
  const since = new Map(current.namespaces.map((namespace) => [namespace.name, namespace.since]));
  return begun.namespaces.every((namespace) => since.get(namespace.name) === namespace.since);
}
