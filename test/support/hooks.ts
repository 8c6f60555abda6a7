// Root hooks of every mocha run, which fail a test after an unhandled rejection.
import { causeOf, dropRemovedNotes, failureNotes } from './failure-notes.ts';

/** Unhandled rejections by promise, because mocha reports each rejection twice. */
const leaked = new Map<Promise<unknown>, unknown>();

function remember(reason: unknown, promise: Promise<unknown>): void {
  leaked.set(promise, reason);
}

/** Waits until Node has reported rejections, which happens after the microtasks of a turn. */
async function failOnLeak(): Promise<void> {
  await new Promise((resolve) => {
    setImmediate(resolve);
  });
  if (leaked.size === 0) return;
  const [first, ...others] = leaked.values();
  leaked.clear();
  const more = others.length > 0 ? ` (and ${others.length} more)` : '';
  throw new Error(`a promise was rejected and not awaited${more}: ${String(first)}`, { cause: first });
}

export const mochaHooks = {
  beforeAll(): void {
    process.on('unhandledRejection', remember);
  },

  beforeEach(this: Mocha.Context): void {
    const test = this.currentTest;
    const body = test?.fn;
    // The hook after the test handles tests with a callback.
    if (test === undefined || body === undefined || body.length > 0) return;
    test.fn = async function (this: Mocha.Context): Promise<void> {
      await Reflect.apply(body, this, []);
      await failOnLeak();
    };
  },

  async afterEach(this: Mocha.Context): Promise<void> {
    if (this.currentTest?.state === 'failed') {
      const notes = `${causeOf(this.currentTest.err)}${await failureNotes()}`;
      if (notes !== '') console.log(`"${this.currentTest.fullTitle()}" failed. ${notes}`);
    }
    dropRemovedNotes();
    await failOnLeak();
  },

  async afterAll(): Promise<void> {
    dropRemovedNotes();
    await failOnLeak();
    process.removeListener('unhandledRejection', remember);
  },
};
