// Starts and controls the load generator (hack/clients/load). The load generator is one child process for the whole
// bench.
import { readFile } from 'node:fs/promises';
import { Client } from '../../control-plane/client.ts';
import { type LineProtocolProgram, startLineProtocolProgram } from '../../system/line-protocol-program.ts';

/** One server with the credentials of one caller; files are PEM. */
export interface Target {
  /** `https://host:port`. */
  readonly server: string;
  readonly serverName?: string;
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The same server with a bearer token instead of a client certificate. */
export function withToken({ server, ca }: Target, token: string): Target {
  return { server, ca, cert: '', key: '', headers: { authorization: `Bearer ${token}` } };
}

/** A client with the client certificate of the caller, or its headers. */
export async function clientOf({ server, ...files }: Target, connections?: number): Promise<Client> {
  const read = (file: string) => readFile(file, 'utf8');
  const ca = await read(files.ca);
  if (files.cert === '') return new Client(server, { ca }, connections);
  const pair = { cert: await read(files.cert), key: await read(files.key) };
  return new Client(server, { ca, pair }, connections);
}

interface RequestsJob {
  readonly target: Target;
  readonly paths: readonly string[];
  readonly connections: number;
  /** The first limit that is reached ends the job. */
  readonly seconds?: number;
  readonly requests?: number;
}

export interface RequestsResult {
  readonly requests: number;
  readonly seconds: number;
  readonly rate: number;
  readonly status: Readonly<Record<string, number>>;
  readonly errors: Readonly<Record<string, number>>;
  /** Transferred size of the bodies. */
  readonly bytes: number;
  readonly latencyMs: Readonly<Record<'min' | 'p50' | 'p90' | 'p99' | 'max', number>>;
  readonly cpuSeconds: number;
}

interface SyncResult {
  readonly objects: number;
  readonly bytes: number;
  readonly ms: number;
}

/** Milliseconds since the write was sent, one value per change. */
export interface Arrivals {
  readonly firstMs: readonly number[];
  readonly lastMs: readonly number[];
  readonly lost: number;
}

interface ChangeJob {
  /** Server and caller of the write. */
  readonly target: Target;
  readonly path: string;
  readonly ids: readonly string[];
  readonly changes: number;
  readonly pauseMs: number;
  readonly timeoutMs: number;
}

interface ChangeResult {
  readonly writeMs: readonly number[];
  readonly groups: Readonly<Record<string, Arrivals>>;
}

export class LoadGenerator {
  readonly #program: LineProtocolProgram;
  #last: Promise<unknown> = Promise.resolve();

  private constructor(program: LineProtocolProgram) {
    this.#program = program;
  }

  /** Starts the process, pinned to `core` if given. The signal stops it. */
  static start(program: string, core: number | undefined, signal: AbortSignal): LoadGenerator {
    const child =
      core === undefined
        ? startLineProtocolProgram(program, [], signal)
        : startLineProtocolProgram('taskset', ['-c', String(core), program], signal);
    return new LoadGenerator(child);
  }

  /** Throws if a request fails or has another status than 200, because its time would be meaningless. */
  async requests(job: RequestsJob): Promise<RequestsResult> {
    const result = await this.#ask<RequestsResult>({ op: 'requests', ...job });
    const others = Object.keys(result.status).filter((status) => status !== '200');
    if (result.requests === 0 || others.length > 0 || Object.keys(result.errors).length > 0) {
      throw new Error(
        `${job.paths[0]} of ${job.target.server}: ${JSON.stringify({ ...result.status, ...result.errors })}`,
      );
    }
    return result;
  }

  sync(target: Target, path: string): Promise<SyncResult> {
    return this.#ask({ op: 'sync', target, paths: [path] });
  }

  openWatches(
    id: string,
    target: Target,
    path: string,
    count: number,
  ): Promise<{ readonly seconds: number }> {
    return this.#ask({ op: 'watch', id, target, paths: [path], connections: count });
  }

  change({ path, ...job }: ChangeJob): Promise<ChangeResult> {
    return this.#ask({ op: 'change', ...job, paths: [path] });
  }

  closeWatches(id: string): Promise<{ readonly lost: number }> {
    return this.#ask({ op: 'close', id });
  }

  stop(): Promise<void> {
    return this.#program.end();
  }

  /** Runs one job at a time, in order. */
  #ask<Result>(job: Readonly<Record<string, unknown>>): Promise<Result> {
    const answer = this.#last.then(() => this.#exchange<Result>(job));
    this.#last = answer.catch(() => undefined);
    return answer;
  }

  async #exchange<Result>(job: Readonly<Record<string, unknown>>): Promise<Result> {
    this.#program.send(JSON.stringify(job));
    const result = JSON.parse(await this.#program.line()) as Result & { readonly error?: string };
    if (result.error !== undefined) throw new Error(result.error);
    return result;
  }
}
