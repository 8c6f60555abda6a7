// One program of the control plane as a process: started until it is ready,
// paused, killed, started again, stopped; its log file and its pid on disk.
// The caller says which program, which flags, and what ready means.
import { spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { lastLines, openLog } from './daemon-log.ts';
import { killAtExit, signalGroup } from './process-group.ts';
import { identify, isStopped } from './process-identity.ts';

export interface DaemonSpec {
  /** As messages call it, such as `kube-apiserver`. */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** Besides the environment of this process; undefined takes a variable out of it. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Everything it prints is appended here. */
  readonly logFile: string;
  /** Tells a later start which process to end, should this one die without doing so. */
  readonly pidFile: string;
  /** Asked again and again until it says true; a rejection counts as not yet. */
  ready(signal: AbortSignal): Promise<boolean>;
  /** Milliseconds until a program that is not ready has failed. */
  readonly readyTimeoutMs?: number;
  /** Milliseconds between SIGTERM and SIGKILL. */
  readonly stopTimeoutMs?: number;
  /** Gives a Node program a channel that tells it when this process has ended, even if it was killed. */
  readonly channel?: boolean;
}

const READY_TIMEOUT_MS = 120_000;
const STOP_TIMEOUT_MS = 10_000;
const PAUSE_TIMEOUT_MS = 10_000;
const POLL_MS = 50;

/** A program that ended, or was not ready in time. The message ends with the last lines of its log. */
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
  /** Resolves with how it ended, such as `exited with code 1`. */
  readonly ended: Promise<string>;
  /** Where in the log file this run begins. */
  readonly logStart: number;
  /** Whether its end was asked for. */
  expected: boolean;
  paused: boolean;
}

export class Daemon {
  #spec: DaemonSpec;
  #run: Run | undefined;
  #failed: (error: DaemonError) => void;

  /** `failed` hears of an end that nobody asked for, once the program was ready. */
  constructor(spec: DaemonSpec, failed: (error: DaemonError) => void) {
    this.#spec = spec;
    this.#failed = failed;
  }

  /** The process id while it runs. */
  get pid(): number | undefined {
    return this.#run?.pid;
  }

  /** The last lines that it has logged since it was started; empty when it does not run. */
  async lastLines(): Promise<string> {
    return this.#run === undefined ? '' : lastLines(this.#spec.logFile, this.#run.logStart);
  }

  /** Starts the program and waits until it is ready; with other flags when given. On failure nothing is left running. */
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
      await this.#gone(run);
      throw error;
    }
    void run.ended.then(async (how) => {
      if (!run.expected) {
        const { name, logFile } = this.#spec;
        await this.#gone(run);
        this.#failed(new DaemonError(name, how, logFile, await lastLines(logFile, run.logStart)));
      }
    });
  }

  /** Ends it with SIGTERM, and with SIGKILL when it takes too long. Nothing happens when it does not run. */
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

  /** Stops it when it runs, and starts it again with the same or other flags: the same ports, the same files. */
  async restart(options: { signal?: AbortSignal; args?: readonly string[] } = {}): Promise<void> {
    await this.stop();
    await this.start(options.signal ?? new AbortController().signal, options.args);
  }

  /** Sends the signal and waits for the end. */
  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const run = this.#run;
    if (run === undefined) return;
    run.expected = true;
    signalGroup(run.pid, signal);
    this.resume(); // a stopped process would keep the signal for later
    await this.#gone(run);
  }

  /** Freezes it: once this resolves its sockets stay open and nobody answers. Nothing happens when it does not run. */
  async pause(): Promise<void> {
    const run = this.#run;
    if (run === undefined) return;
    run.paused = signalGroup(run.pid, 'SIGSTOP');
    const deadline = Date.now() + PAUSE_TIMEOUT_MS;
    // A run that somebody ends or lets go on meanwhile is not waited for.
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
        // Our own programs ask the kernel to die with this process.
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
      // It only exists to be closed: nothing comes through it, so this process need not wait for it.
      child.channel?.unref();
      void ended.then(killAtExit(pid));
      await writeFile(pidFile, JSON.stringify({ name, ...identify(pid) }));
      return { pid, ended, logStart, expected: false, paused: false };
    } finally {
      closeSync(log);
    }
  }

  async #untilReady(run: Run, signal: AbortSignal): Promise<void> {
    const { name, logFile, readyTimeoutMs = READY_TIMEOUT_MS } = this.#spec;
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
      await delay(POLL_MS, undefined, { signal: asking }).catch(() => undefined);
      signal.throwIfAborted();
    }
    throw new DaemonError(name, await end, logFile, await lastLines(logFile, run.logStart));
  }

  async #gone(run: Run): Promise<void> {
    await run.ended;
    // The leader is gone; nothing that it started may stay. The count is for
    // containers in which nobody collects the dead: they stay in the group.
    for (let left = 100; left > 0 && signalGroup(run.pid, 'SIGKILL'); left--) {
      await delay(10);
    }
    if (this.#run === run) {
      this.#run = undefined;
      await rm(this.#spec.pidFile, { force: true });
    }
  }
}
