import type { ServerResponse } from 'node:http';

export interface Withdrawable {
  /** Aborted, with the reason, when somebody else is to have its place. */
  readonly withdrawn?: AbortSignal | undefined;
}

/** How long a reader may take for what was written so far, in ms: somebody waits for the place. */
const PATIENCE_MS = 2_000;

/** Has `over` end a stream whose place is withdrawn; a reader that does not take the end soon is cut off. */
export function endWhenWithdrawn(
  { withdrawn }: Withdrawable,
  response: ServerResponse,
  over: AbortController,
): void {
  const end = (): void => {
    over.abort(withdrawn?.reason);
    const timer = setTimeout(() => response.destroy(), PATIENCE_MS);
    response.once('close', () => clearTimeout(timer));
  };
  if (withdrawn?.aborted) end();
  else withdrawn?.addEventListener('abort', end, { once: true });
}
