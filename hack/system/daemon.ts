// Starts a child process with a log file and a PID file. The caller defines the command and the readiness check.
import { type ChildProcess, type Serializable, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { lastLines, openLog } from './daemon-log.ts';
import { killAtExit, signalGroup } from './process-group.ts';
import { identify, isStopped } from './process-identity.ts';

export interface DaemonSpec {
  /** Name in messages, such as `kube-apiserver`. */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** Added to the environment of this process; undefined removes a variable. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** File to which its output is appended. */
  readonly logFile: string;
  /** PID file. With it, the next start terminates the program if this process died without stopping it. */
  readonly pidFile: string;
  /** Polled until it returns true; a rejection means not ready. */
  ready(signal: AbortSignal): Promise<boolean>;
  /** Timeout of the readiness check, in ms. */
  readonly readyTimeoutMs?: number;
  /** Interval of the readiness check, in ms. */
  readonly pollMs?: number;
  /** Time between SIGTERM and SIGKILL, in ms. */
  readonly stopTimeoutMs?: number;
  /** Opens an IPC channel. It closes when this process exits or is killed, so that a Node program can exit too. */
  readonly channel?: boolean;
}

const READY_TIMEOUT_MS = 120_000;
const STOP_TIMEOUT_MS = 10_000;
const PAUSE_TIMEOUT_MS = 10_000;
const POLL_MS = 50;
const REPLY_TIMEOUT_MS = 10_000;

/** A program exited, or was not ready in time. The message contains the last lines of its log. */
export class DaemonError extends Error {
  override readonly name = 'DaemonError';
  readonly daemon: string;
  readonly log: string;

  constructor(daemon: string, what: string, logFile: string, log: string) {
    super(`${daemon} ${what}; the end of its log ${logFile}:\n${log.trimEnd() || '(nothing logged)'}`);
    this.daemon = daemon;
    this.log = log;
  }
}

interface Run {
  readonly pid: number;
  readonly child: ChildProcess;
  /** Resolves at the exit with a description, such as `exited with code 1`. */
  readonly ended: Promise<string>;
  /** Offset in the log file at which this run starts. */
  readonly logStart: number;
  /** Whether its exit was requested. */
  expected: boolean;
  paused: boolean;
}

export class Daemon implements AsyncDisposable {
  #spec: DaemonSpec;
  #run: Run | undefined;
  #failed: (error: DaemonError) => void;

  /** `failed` is called if the program exits unexpectedly after it was ready. */
  constructor(spec: DaemonSpec, failed: (error: DaemonError) => void = () => undefined) {
    this.#spec = spec;
    this.#failed = failed;
  }

  /** A program that is ready, and stops when disposed. */
  static async started(spec: DaemonSpec, signal: AbortSignal): Promise<Daemon> {
    const daemon = new Daemon(spec);
    await daemon.start(signal);
    return daemon;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  /** The process id while it runs. */
  get pid(): number | undefined {
    return this.#run?.pid;
  }

  /** Sends a message to a program with a channel, and returns its reply. */
  async ask(message: Serializable): Promise<unknown> {
    const { name } = this.#spec;
    if (this.#run === undefined) throw new Error(`${name} does not run`);
    const reply = once(this.#run.child, 'message', { signal: AbortSignal.timeout(REPLY_TIMEOUT_MS) });
    this.#run.child.send(message);
    const [value] = (await reply) as unknown[];
    return value;
  }

  /** The last log lines of the current run; empty if it does not run. */
  async lastLines(): Promise<string> {
    return this.#run === undefined ? '' : lastLines(this.#spec.logFile, this.#run.logStart);
  }

  /** Starts the program, optionally with other flags, and waits until it is ready. After a failure nothing runs. */
  async start(signal: AbortSignal, args: readonly string[] = this.#spec.args): Promise<void> {
    signal.throwIfAborted();
    if (this.#run !== undefined) {
      throw new Error(`${this.#spec.name} runs already`);
    }
    this.#spec = { ...this.#spec, args };
    const run = await this.#spawn();
    this.#run = run;
    try {
      await this.#untilReady(run, signal);
    } catch (error) {
      run.expected = true;
      signalGroup(run.pid, 'SIGKILL');
      await this.#exited(run);
      throw error;
    }
    void run.ended.then(async (how) => {
      if (!run.expected) {
        const { name, logFile } = this.#spec;
        await this.#exited(run);
        this.#failed(new DaemonError(name, how, logFile, await lastLines(logFile, run.logStart)));
      }
    });
  }

  /** Stops it with SIGTERM, and with SIGKILL after the timeout. No effect if it does not run. */
  async stop(): Promise<void> {
    const run = this.#run;
    if (run === undefined) return;
    const patience = new AbortController();
    const bound = delay(this.#spec.stopTimeoutMs ?? STOP_TIMEOUT_MS, undefined, {
      signal: patience.signal,
    }).then(
      () => signalGroup(run.pid, 'SIGKILL'),
      () => false,
    );
    await this.kill('SIGTERM');
    patience.abort();
    await bound;
  }

  /** Restarts it with the same ports and files, and with the same or other flags. */
  async restart(options: { signal?: AbortSignal; args?: readonly string[] } = {}): Promise<void> {
    await this.stop();
    await this.start(options.signal ?? new AbortController().signal, options.args);
  }

  /** Sends the signal and waits for the exit. */
  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const run = this.#run;
    if (run === undefined) return;
    run.expected = true;
    signalGroup(run.pid, signal);
    this.resume(); // a stopped process does not handle the signal
    await this.#exited(run);
  }

  /** Stops it with SIGSTOP: its sockets stay open, and it does not respond. No effect if it does not run. */
  async pause(): Promise<void> {
    const run = this.#run;
    if (run === undefined) return;
    run.paused = signalGroup(run.pid, 'SIGSTOP');
    const deadline = Date.now() + PAUSE_TIMEOUT_MS;
    // Do not wait for a run that is stopped or resumed meanwhile.
    while (run.paused && this.#run === run && !isStopped(run.pid)) {
      if (Date.now() >= deadline) {
        throw new Error(`${this.#spec.name} was not stopped by SIGSTOP in ${PAUSE_TIMEOUT_MS / 1000} s`);
      }
      await delay(1);
    }
  }

  resume(): void {
    if (this.#run?.paused === true) {
      signalGroup(this.#run.pid, 'SIGCONT');
      this.#run.paused = false;
    }
  }

  async #spawn(): Promise<Run> {
    const { name, command, args, env, logFile, pidFile, channel = false } = this.#spec;
    await mkdir(dirname(pidFile), { recursive: true });
    const { log, logStart } = await openLog(logFile);
    try {
      const child = spawn(command, args, {
        detached: true,
        stdio: ['ignore', log, log, ...(channel ? (['ipc'] as const) : [])],
        // Our own programs request a parent death signal.
        env: { ...process.env, ...env, KS_CONTROL_PLANE_PARENT: String(process.pid) },
      });
      const ended = new Promise<string>((resolve) => {
        child.once('error', (error) => resolve(`could not be started (${error.message})`));
        child.once('exit', (code, signal) =>
          resolve(signal === null ? `exited with code ${code}` : `was ended by ${signal}`),
        );
      });
      if (child.pid === undefined) throw new DaemonError(name, await ended, logFile, '');
      const { pid } = child;
      // The channel must not keep this process alive.
      child.channel?.unref();
      void ended.then(killAtExit(pid));
      await writeFile(pidFile, JSON.stringify({ name, ...identify(pid) }));
      return { pid, child, ended, logStart, expected: false, paused: false };
    } finally {
      closeSync(log);
    }
  }

  async #untilReady(run: Run, signal: AbortSignal): Promise<void> {
    const { name, logFile, readyTimeoutMs = READY_TIMEOUT_MS, pollMs = POLL_MS } = this.#spec;
    const over = new AbortController();
    const asking = AbortSignal.any([signal, over.signal]);
    const deadline = Date.now() + readyTimeoutMs;
    const end = run.ended.then((how) => {
      over.abort();
      return how;
    });
    while (!over.signal.aborted) {
      const attempt = AbortSignal.any([asking, AbortSignal.timeout(Math.max(1, deadline - Date.now()))]);
      if (await this.#spec.ready(attempt).catch(() => false)) return;
      signal.throwIfAborted();
      if (Date.now() >= deadline) {
        const what = `was not ready after ${Math.round(readyTimeoutMs / 1000)} s`;
        throw new DaemonError(name, what, logFile, await lastLines(logFile, run.logStart));
      }
      await delay(pollMs, undefined, { signal: asking }).catch(() => undefined);
      signal.throwIfAborted();
    }
    throw new DaemonError(name, await end, logFile, await lastLines(logFile, run.logStart));
  }

  async #exited(run: Run): Promise<void> {
    await run.ended;
    // Kill the rest of the group. The loop is bounded, because zombies stay in the group in containers without an init.
    for (let left = 100; left > 0 && signalGroup(run.pid, 'SIGKILL'); left--) {
      await delay(10);
    }
    if (this.#run === run) {
      this.#run = undefined;
      await rm(this.#spec.pidFile, { force: true });
    }
  }
}
