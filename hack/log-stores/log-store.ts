// A log store as a process on a loopback port: started until it answers, stopped, killed, paused, started again on
// the same data and port. Which program it is, and how it is built, stand in opensearch.ts and victorialogs.ts; what
// is loaded into it in load-*.ts.
import { mkdir } from 'node:fs/promises';
import { get as getPlain } from 'node:http';
import { get as getSecured } from 'node:https';
import { join, resolve } from 'node:path';
import { Daemon } from '../system/daemon.ts';
import { claimFolder } from '../system/owner.ts';
import { racingForPorts } from '../system/port-race.ts';
import { freePorts } from '../system/ports.ts';
import type { Progress } from '../terminal/progress.ts';

export interface StartOptions {
  /** Made when it is missing; the store's data, its log and what identifies its process lie in it. */
  readonly dir: string;
  /** Ends the start, and later the store. */
  readonly signal: AbortSignal;
  readonly env?: NodeJS.ProcessEnv;
  readonly progress?: Progress;
  /** Called when it ends without having been stopped. */
  failed?(error: Error): void;
}

/** Disposing of it is stopping it. */
export interface LogStoreProcess extends AsyncDisposable {
  /** Such as `http://127.0.0.1:20123`, or `https://…`, without a slash at its end; the same after every start. */
  readonly url: string;
  readonly port: number;
  /** While it runs. */
  readonly pid: number | undefined;
  readonly logFile: string;
  /** Stops it gracefully, and by force after 10 s. Does nothing when it does not run. */
  stop(): Promise<void>;
  /** Starts it again on what it has stored, and returns when it answers. */
  start(signal?: AbortSignal): Promise<void>;
  restart(signal?: AbortSignal): Promise<void>;
  /** Ends it at once, as a crash would. */
  kill(): Promise<void>;
  /** Freezes it: once this resolves its sockets stay open and nobody answers. */
  pause(): Promise<void>;
  resume(): void;
}

/** What is particular to a store. */
export interface Program {
  /** As messages call it. */
  readonly name: string;
  /** How many ports it listens on; the first is for HTTP. */
  readonly ports: number;
  readonly command: string;
  args(dir: string, ports: readonly number[]): readonly string[];
  /** A path that answers 200 when queries can be put. */
  readonly readyPath: string;
  /** PEM; where it is given, the program speaks TLS, with a certificate that this one has signed. */
  readonly ca?: string;
  /** Milliseconds until a start has failed; two minutes unless told otherwise. */
  readonly readyTimeoutMs?: number;
}

/** Starts the program in a folder of its own and waits until it answers. On failure nothing is left running. */
export async function startProgram(program: Program, options: StartOptions): Promise<LogStoreProcess> {
  const dir = resolve(options.dir);
  await mkdir(join(dir, 'data'), { recursive: true });
  return racingForPorts(async () => {
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
  /** Lets somebody else use the folder; there while this process does. */
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
        ready: async (signal) =>
          (await statusOf(`${this.url}${program.readyPath}`, program.ca, signal)) === 200,
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

  async kill(): Promise<void> {
    await this.#daemon.kill();
    await this.#giveUp();
  }

  pause(): Promise<void> {
    return this.#daemon.pause();
  }

  resume(): void {
    this.#daemon.resume();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  readonly #onAbort = (): void => {
    // The error, if any, is for whoever calls stop().
    this.stop().catch(() => undefined);
  };

  async #giveUp(): Promise<void> {
    this.#signal.removeEventListener('abort', this.#onAbort);
    const release = this.#release;
    this.#release = undefined;
    await release?.();
  }
}

function statusOf(url: string, ca: string | undefined, signal: AbortSignal): Promise<number | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
  const get = ca === undefined ? getPlain : getSecured;
  get(url, { signal, agent: false, ...(ca === undefined ? {} : { ca }) }, (response) => {
    response.resume().on('error', reject);
    resolve(response.statusCode);
  }).on('error', reject);
  return promise;
}
