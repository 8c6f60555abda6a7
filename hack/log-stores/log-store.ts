// Starts OpenSearch or VictoriaLogs as a child process on a loopback port. Restarts keep the data and the port.
import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Client } from '../control-plane/client.ts';
import { Daemon } from '../system/daemon.ts';
import { claimFolder } from '../system/owner.ts';
import { withPortRetry } from '../system/port-retry.ts';
import { freePorts } from '../system/ports.ts';
import type { Progress } from '../terminal/progress.ts';

export interface StartOptions {
  /** Folder of data, log and PID file; created if missing. */
  readonly dir: string;
  /** Aborts the start, and later stops the store. */
  readonly signal: AbortSignal;
  readonly env?: NodeJS.ProcessEnv;
  readonly progress?: Progress;
  /** Called if the store exits unexpectedly. */
  failed?(error: Error): void;
}

/** Stops when disposed. */
export interface LogStoreProcess extends AsyncDisposable {
  /** Such as `http://127.0.0.1:20123` or `https://…`, without a trailing slash; the same after every start. */
  readonly url: string;
  readonly port: number;
  /** PID while it runs. */
  readonly pid: number | undefined;
  readonly logFile: string;
  /** Stops it gracefully, and with SIGKILL after 10 s. No effect if it does not run. */
  stop(): Promise<void>;
  /** Restarts it with its data, and resolves when it is ready. */
  start(signal?: AbortSignal): Promise<void>;
  restart(signal?: AbortSignal): Promise<void>;
}

/** The properties of one store. */
interface Program {
  /** Name in messages. */
  readonly name: string;
  /** Number of ports; the first is for HTTP. */
  readonly ports: number;
  readonly command: string;
  args(dir: string, ports: readonly number[]): readonly string[];
  /** A path that returns 200 when the store accepts queries. */
  readonly readyPath: string;
  /** CA of the serving certificate, PEM; if set, the store uses TLS. */
  readonly ca?: string;
  /** Start timeout in ms; two minutes by default. */
  readonly readyTimeoutMs?: number;
}

/** Starts the program and waits until it is ready. After a failure nothing runs. */
export async function startProgram(program: Program, options: StartOptions): Promise<LogStoreProcess> {
  const dir = resolve(options.dir);
  await mkdir(join(dir, 'data'), { recursive: true });
  return withPortRetry(async () => {
    const store = new RunningStore(program, dir, await freePorts(program.ports), options);
    await store.start();
    return store;
  });
}

class RunningStore implements LogStoreProcess {
  readonly port: number;
  readonly logFile: string;
  readonly #dir: string;
  readonly #scheme: 'http' | 'https';
  readonly #signal: AbortSignal;
  readonly #daemon: Daemon;
  /** Releases the folder; set while this process owns it. */
  #release: (() => Promise<void>) | undefined;

  constructor(program: Program, dir: string, ports: readonly number[], options: StartOptions) {
    const [port = 0] = ports;
    this.port = port;
    this.logFile = join(dir, `${program.name}.log`);
    this.#dir = dir;
    this.#scheme = program.ca === undefined ? 'http' : 'https';
    this.#signal = options.signal;
    this.#daemon = new Daemon(
      {
        name: program.name,
        command: program.command,
        args: program.args(dir, ports),
        logFile: this.logFile,
        pidFile: join(dir, 'run', `${program.name}.json`),
        ...(program.readyTimeoutMs === undefined ? {} : { readyTimeoutMs: program.readyTimeoutMs }),
        ready: async (signal) => {
          using client = new Client(this.url, program.ca === undefined ? {} : { ca: program.ca }, 1);
          return (await client.send(program.readyPath, { signal })).status === 200;
        },
      },
      (error) => options.failed?.(error),
    );
  }

  get url(): string {
    return `${this.#scheme}://127.0.0.1:${this.port}`;
  }

  get pid(): number | undefined {
    return this.#daemon.pid;
  }

  async start(signal: AbortSignal = this.#signal): Promise<void> {
    this.#signal.throwIfAborted();
    this.#release ??= await claimFolder(this.#dir);
    this.#signal.addEventListener('abort', this.#onAbort, { once: true });
    try {
      await this.#daemon.start(AbortSignal.any([signal, this.#signal]));
    } catch (error) {
      await this.#giveUp();
      throw error;
    }
  }

  async stop(): Promise<void> {
    await this.#daemon.stop();
    await this.#giveUp();
  }

  async restart(signal?: AbortSignal): Promise<void> {
    await this.stop();
    await this.start(signal);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  readonly #onAbort = (): void => {
    // stop() reports the error.
    this.stop().catch(() => undefined);
  };

  async #giveUp(): Promise<void> {
    this.#signal.removeEventListener('abort', this.#onAbort);
    const release = this.#release;
    this.#release = undefined;
    await release?.();
  }
}
