// Starts ks-apiserver as a child process, for tests and the bench. registration.ts creates the APIServices.
import type { Serializable } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { stringify } from 'yaml';
import { record } from '../../apis/reading/unknown-value.ts';
import { Client } from '../control-plane/client.ts';
import { Daemon } from '../system/daemon.ts';
import { END_WITH_PARENT, serverCommand } from './server-command.ts';

const ROOT = join(import.meta.dirname, '../..');
/** Interval of readiness checks, in ms: precise enough to measure a start, although each check costs CPU time. */
const POLL_MS = 20;
const ANSWER_MS = 5_000;
const STOP_MS = 30_000;

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
  readonly pid: number;
  readonly #daemon: Daemon;

  private constructor(daemon: Daemon, url: string, logFile: string, readyMs: number) {
    this.#daemon = daemon;
    this.pid = daemon.pid ?? 0;
    this.url = url;
    this.logFile = logFile;
    this.readyMs = readyMs;
  }

  /** Resolves when the server is ready; rejects with the end of its log if it exits before or takes too long. */
  static async start(options: ServerProcessOptions): Promise<ServerProcess> {
    const { dir, listening, readyTimeoutMs, signal } = options;
    const url = urlOf(options);
    await mkdir(dir, { recursive: true });
    const config = join(dir, 'config.yaml');
    await writeFile(config, stringify(configurationOf(options)));
    const logFile = join(dir, 'server.log');
    const imports = (options.imports ?? []).map((module) => `--import=${pathToFileURL(module).href}`);
    const { args, env } = serverCommand(ROOT, END_WITH_PARENT, ...imports);
    // One connection for all polls: a TLS handshake costs the server more than the response.
    using client = new Client(url, { ca: await readFile(options.certificate.ca, 'utf8') }, 1);
    let notified = false;
    const daemon: Daemon = new Daemon({
      name: 'ks-apiserver',
      command: process.execPath,
      args: [...args, '--config', config],
      env,
      channel: true,
      logFile,
      pidFile: join(dir, 'server.json'),
      ready: async (polling) => {
        const bounded = AbortSignal.any([polling, AbortSignal.timeout(ANSWER_MS)]);
        const { status } = await client.send('/readyz', { signal: bounded });
        if (!notified) {
          notified = true;
          await listening?.((message) => daemon.ask(message));
        }
        return status === 200;
      },
      pollMs: POLL_MS,
      stopTimeoutMs: STOP_MS,
      ...(readyTimeoutMs === undefined ? {} : { readyTimeoutMs }),
    });
    const began = performance.now();
    await daemon.start(signal);
    return new ServerProcess(daemon, url, logFile, performance.now() - began);
  }

  /** Sends a message to a module of `imports` and returns its reply. */
  ask(message: Serializable): Promise<unknown> {
    return this.#daemon.ask(message);
  }

  /** Stops the server gracefully, and with SIGKILL after 30 s. No effect if it does not run. */
  async stop(): Promise<void> {
    await this.#daemon.stop();
  }

  /** Kills the server without a graceful stop. */
  async kill(): Promise<void> {
    await this.#daemon.kill();
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
