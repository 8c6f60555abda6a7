// Polls conditions of programs and connections that report no event.

/** The fake timers of a test do not replace them. */
const { setTimeout: startTimer, clearTimeout: stopTimer } = globalThis;
const FIRST_WAIT_MS = 10;
const LONGEST_WAIT_MS = 200;
/** A wait of this time prints its place: mocha reports only the hook or the test that has timed out. */
const NOTICE_MS = 60_000;

/**
 * Polls until `condition` returns true. Fails at the timeout of the test. Each wait is a quarter longer than the one
 * before, because a condition may be a request that costs other tests their CPU. `state`: what a long wait prints.
 */
export async function until(
  condition: () => boolean | Promise<boolean>,
  state: () => unknown = () => '',
): Promise<void> {
  const place = new Error(`waits for more than ${NOTICE_MS / 1000} s`);
  const notice = startTimer(() => console.log(place, state()), NOTICE_MS).unref();
  try {
    for (let wait = FIRST_WAIT_MS; !(await condition()); wait = Math.min(1.25 * wait, LONGEST_WAIT_MS)) {
      const { promise, resolve } = Promise.withResolvers<void>();
      startTimer(resolve, wait);
      await promise;
    }
  } finally {
    stopTimer(notice);
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
