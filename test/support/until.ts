// Polls conditions of programs and connections that report no event.

/** The fake timers of a test do not replace it. */
const { setTimeout: startTimer } = globalThis;
const FIRST_WAIT_MS = 10;
const LONGEST_WAIT_MS = 200;

/**
 * Polls until `condition` returns true. Fails at the timeout of the test. Each wait is a quarter longer than the one
 * before, because a condition may be a request that costs other tests their CPU.
 */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  for (let wait = FIRST_WAIT_MS; !(await condition()); wait = Math.min(1.25 * wait, LONGEST_WAIT_MS)) {
    const { promise, resolve } = Promise.withResolvers<void>();
    startTimer(resolve, wait);
    await promise;
  }
}

const STEADY_POLLS = 10;

/** Polls until `value` has been the same ten times: what a queue or a connection still had to do is done. */
export async function untilSteady(value: () => unknown): Promise<void> {
  let last = await value();
  let polls = 0;
  await until(async () => {
    const current = await value();
    polls = current === last ? polls + 1 : 0;
    last = current;
    return polls === STEADY_POLLS;
  });
}
