// Starts ks-apiserver as a child process, for tests and the bench. registration.ts creates the APIServices.
import { type ChildProcess, type Serializable, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, open, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { stringify } from 'yaml';
import { record } from '../../apis/reading/unknown-value.ts';
import { Client } from '../control-plane/client.ts';
import { END_WITH_PARENT, serverCommand } from './server-command.ts';

const ROOT = join(import.meta.dirname, '../..');
/** Interval of readiness checks, in ms: precise enough to measure a start, although each check costs CPU time. */
const POLL_MS = 20;
/** Start timeout, in ms. Starts took more than 30 s while all other tests ran on the same machine. */
const READY_MS = 120_000;
const ANSWER_MS = 5_000;

export interface ServerProcessOptions {
  /** Folder of the configuration and the log. */
  readonly dir: string;
  readonly kubeconfig: string;
  readonly port: number;
  /** Serving certificate, its key and its CA: paths of PEM files. */
  readonly certificate: { readonly cert: string; readonly key: string; readonly ca: string };
  /** Further sections of the configuration. The issuer is the address of the server. */
  readonly configuration?: Readonly<Record<string, unknown>>;
  /** Modules to preload. */
  readonly imports?: readonly string[];
  readonly signal: AbortSignal;
  /** Called when the server listens, ready or not, with the method `ask`. */
  readonly listening?: (ask: (message: Serializable) => Promise<unknown>) => Promise<void>;
  /** Time until /readyz must return 200, in ms; two minutes by default. */
  readonly readyTimeoutMs?: number;
}

export class ServerProcess {
  readonly url: string;
  readonly logFile: string;
  /** Time from the spawn to the first /readyz with 200. */
  readonly readyMs: number;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, url: string, logFile: string, readyMs: number) {
    this.#child = child;
    this.url = url;
    this.logFile = logFile;
    this.readyMs = readyMs;
  }

  /** Resolves when the server is ready; rejects with the end of its log if it exits before or takes too long. */
  static async start(options: ServerProcessOptions): Promise<ServerProcess> {
    const { dir, certificate, signal } = options;
    const url = urlOf(options);
    await mkdir(dir, { recursive: true });
    const config = join(dir, 'config.yaml');
    await writeFile(config, stringify(configurationOf(options)));
    const ca = await readFile(certificate.ca, 'utf8');
    const logFile = join(dir, 'server.log');
    const log = await open(logFile, 'a');
    const imports = (options.imports ?? []).map((module) => `--import=${pathToFileURL(module).href}`);
    const began = performance.now();
    const { args, env } = serverCommand(ROOT, END_WITH_PARENT, ...imports);
    const child = spawn(process.execPath, [...args, '--config', config], {
      env: { ...process.env, ...env },
      stdio: ['ignore', log.fd, log.fd, 'ipc'],
    });
    const end = (): void => {
      child.kill('SIGKILL');
    };
    process.once('exit', end);
    child.once('exit', () => process.removeListener('exit', end));
    child.once('error', () => undefined);
    await log.close();
    try {
      const bound = AbortSignal.any([signal, AbortSignal.timeout(options.readyTimeoutMs ?? READY_MS)]);
      await ready(child, url, ca, bound, options.listening);
    } catch (error) {
      end();
      signal.throwIfAborted();
      throw new Error(`the server is not ready; the end of ${logFile}:\n${await tail(logFile)}`, {
        cause: error,
      });
    }
    return new ServerProcess(child, url, logFile, performance.now() - began);
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Sends a message to a module of `imports` and returns its reply. */
  ask(message: Serializable): Promise<unknown> {
    return ask(this.#child, message);
  }

  /** Stops the server gracefully, and with SIGKILL after 30 s. Resolves with its exit code; null after a signal. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return this.#child.exitCode;
    const exit = once(this.#child, 'exit');
    this.#child.kill(signal);
    const force = setTimeout(() => this.#child.kill('SIGKILL'), 30_000);
    await exit;
    clearTimeout(force);
    return this.#child.exitCode;
  }
}

function urlOf({ port }: Pick<ServerProcessOptions, 'port'>): string {
  return `https://127.0.0.1:${port}`;
}

function configurationOf(options: ServerProcessOptions): Readonly<Record<string, unknown>> {
  const { cert, key, ca } = options.certificate;
  const { listeners, oauth, ...other } = options.configuration ?? {};
  return {
    apiVersion: 'config.platform.io/v1alpha1',
    kind: 'APIServerConfiguration',
    listeners: {
      secure: { address: '127.0.0.1', port: options.port, certFile: cert, keyFile: key, caFile: ca },
      insecure: { enabled: false },
      ...record(listeners),
    },
    kubernetes: { kubeconfig: options.kubeconfig },
    shutdown: { readinessDelay: '0s' },
    ...other,
    // The default issuer contains localhost, which is only ::1 on some machines.
    oauth: { issuer: `${urlOf(options)}/oauth`, ...record(oauth) },
  };
}

async function ask(child: ChildProcess, message: Serializable): Promise<unknown> {
  const answer = once(child, 'message', { signal: AbortSignal.timeout(10_000) });
  child.send(message);
  const [value] = (await answer) as unknown[];
  return value;
}

async function ready(
  child: ChildProcess,
  url: string,
  ca: string,
  signal: AbortSignal,
  listening: ServerProcessOptions['listening'],
): Promise<void> {
  let notified = false;
  // One connection for all polls: a TLS handshake costs the server more than the response.
  using client = new Client(url, { ca }, 1);
  for (;;) {
    signal.throwIfAborted();
    if (child.exitCode !== null || child.signalCode !== null) {
      throw new Error(`it ended with ${child.exitCode ?? child.signalCode}`);
    }
    const status = await statusOf(client, signal);
    if (status !== undefined && !notified) {
      notified = true;
      await listening?.((message) => ask(child, message));
    }
    if (status === 200) return;
    await delay(POLL_MS, undefined, { signal });
  }
}

/** Status of /readyz; undefined while the server is unreachable. */
function statusOf(client: Client, signal: AbortSignal): Promise<number | undefined> {
  return client.send('/readyz', { signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]) }).then(
    ({ status }) => status,
    () => undefined,
  );
}

async function tail(file: string): Promise<string> {
  return (await readFile(file, 'utf8')).slice(-4000);
}
