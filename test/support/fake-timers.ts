// Fake timers of node:test, also for modules that import `node:timers/promises`.
import { syncBuiltinESMExports } from 'node:module';
import { mock } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Replaces `setTimeout`, or the given functions, in the whole process until it is disposed. */
export class FakeTimers implements Disposable {
  constructor(apis: ('setTimeout' | 'setInterval')[] = ['setTimeout']) {
    mock.timers.enable({ apis });
    syncBuiltinESMExports();
  }

  /** Runs the timers of the next `ms`, and waits for the work that they start. */
  async tick(ms: number): Promise<void> {
    mock.timers.tick(ms);
    await nextTurn();
  }

  [Symbol.dispose](): void {
    mock.timers.reset();
    syncBuiltinESMExports();
  }
}
