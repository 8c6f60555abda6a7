// Paced load: repeats tasks, and records the latency of each kind of request and the errors. A task waits for its
// interval however fast the server responds, so the load is bounded.
import { setTimeout as delay } from 'node:timers/promises';

/** `work` makes its requests with `time`, which records their latency. Every error is unexpected. */
export interface Task {
  readonly name: string;
  readonly everyMs: number;
  /** Number of concurrent repetitions; 1 by default. */
  readonly lanes?: number;
  readonly work: (signal: AbortSignal) => Promise<unknown>;
}

export interface KnownError {
  readonly task: string;
  readonly message: string;
  count: number;
  /** Seconds since the start of the load. */
  readonly firstAt: number;
}

/** Limit of one repetition, which also ends a request without a response. */
const TASK_MS = 60_000;
/** Number of different errors in the report. */
const MAX_ERRORS = 50;

export class Recorder {
  readonly began = performance.now();
  readonly errors = new Map<string, KnownError>();
  #latencies = new Map<string, number[]>();

  get seconds(): number {
    return (performance.now() - this.began) / 1000;
  }

  /** Measures a request. A failed request has no latency. */
  async time<Result>(kind: string, request: () => Promise<Result>): Promise<Result> {
    const began = performance.now();
    const result = await request();
    const known = this.#latencies.get(kind);
    const elapsed = performance.now() - began;
    if (known) known.push(elapsed);
    else this.#latencies.set(kind, [elapsed]);
    return result;
  }

  fail(task: string, error: unknown): void {
    const { cause } = error instanceof Error ? error : {};
    const text = `${String(error)}${cause instanceof Error ? `: ${cause.message}` : ''}`;
    // Names, ports and times differ in each message.
    const message = text.slice(0, 300).replaceAll(/\d+/g, 'N');
    const known = this.errors.get(`${task} ${message}`);
    if (known) known.count++;
    else if (this.errors.size < MAX_ERRORS)
      this.errors.set(`${task} ${message}`, {
        task,
        message: text.slice(0, 300),
        count: 1,
        firstAt: this.seconds,
      });
  }

  /** Returns the latencies since the previous call, in ms, by kind. */
  takeLatencies(): ReadonlyMap<string, readonly number[]> {
    const taken = this.#latencies;
    this.#latencies = new Map();
    return taken;
  }
}

/** Repeats the tasks until the signal aborts; resolves when all have ended. */
export async function runLoad(
  tasks: readonly Task[],
  recorder: Recorder,
  signal: AbortSignal,
): Promise<void> {
  await Promise.all(
    tasks.flatMap((task) => Array.from({ length: task.lanes ?? 1 }, () => repeat(task, recorder, signal))),
  );
}

async function repeat({ name, everyMs, work }: Task, recorder: Recorder, signal: AbortSignal): Promise<void> {
  const pause = (ms: number): Promise<void> => delay(ms, undefined, { signal }).catch(() => undefined);
  // Tasks with equal intervals must not all start at once.
  await pause(Math.random() * everyMs);
  while (!signal.aborted) {
    const began = performance.now();
    try {
      await work(AbortSignal.any([signal, AbortSignal.timeout(TASK_MS)]));
    } catch (error) {
      if (!signal.aborted) recorder.fail(name, error);
    }
    await pause(Math.max(0, everyMs - (performance.now() - began)));
  }
}
