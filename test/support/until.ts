const FIRST_WAIT_MS = 10;
const LONGEST_WAIT_MS = 200;

/**
 * Polls until `condition` returns true. Fails at the timeout of the test. Each wait is a quarter longer than the one
 * before, because a condition may be a request that costs other tests their CPU.
 */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  for (let wait = FIRST_WAIT_MS; !(await condition()); wait = Math.min(1.25 * wait, LONGEST_WAIT_MS)) {
    const { promise, resolve } = Promise.withResolvers<void>();
    setTimeout(resolve, wait);
    await promise;
  }
}
