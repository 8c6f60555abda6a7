// Driver that runs ks-apiserver as a child process, for tests of signals, exit codes and output.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { stringify } from 'yaml';
import { openServingFiles } from '../../../hack/control-plane/pki.ts';
import { noteOnFailure, removeNote } from '../../support/failure-notes.ts';

const MAIN = join(import.meta.dirname, '../../../server/main.ts');

/** A kubeconfig with an unreachable cluster. */
const NO_CLUSTER = stringify({
  apiVersion: 'v1',
  kind: 'Config',
  clusters: [{ name: 'none', cluster: { server: 'https://127.0.0.1:1' } }],
  users: [{ name: 'nobody', user: { token: 'none' } }],
  contexts: [{ name: 'none', context: { cluster: 'none', user: 'nobody' } }],
  'current-context': 'none',
});

/** The section `listeners.secure`, with the certificate of the workplace. */
export const SECURE_LISTENER = {
  address: '127.0.0.1',
  port: 0,
  certFile: 'serving.crt',
  keyFile: 'serving.key',
  caFile: 'serving-ca.crt',
};

interface Exit {
  readonly code: number | null;
  readonly stderr: string;
}

export class Program {
  readonly exit: Promise<Exit>;
  readonly lines: string[] = [];
  readonly #child: ChildProcess;
  readonly #waiting = new Set<() => void>();

  constructor(args: readonly string[], cwd: string, imports: readonly string[]) {
    const nodeFlags = imports.map((module) => `--import=${module}`);
    const child = spawn(process.execPath, [...nodeFlags, MAIN, ...args], {
      cwd,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    let stderr = '';
    child.stderr.on('data', (chunk: Buffer) => {
      stderr += chunk.toString();
    });
    noteOnFailure(this, 'what the server has printed', () => `${stderr}${this.lines.join('\n')}`);
    createInterface({ input: child.stdout }).on('line', (line) => {
      this.lines.push(line);
      for (const look of this.#waiting) look();
    });
    this.exit = once(child, 'close').then(() => ({ code: child.exitCode, stderr }));
  }

  /** Resolves with the first log line that has all these members. */
  async line(members: Readonly<Record<string, unknown>>): Promise<Readonly<Record<string, unknown>>> {
    const { promise, resolve, reject } = Promise.withResolvers<Readonly<Record<string, unknown>>>();
    const look = () => {
      const found = this.lines
        .map((line) => JSON.parse(line) as Record<string, unknown>)
        .find((line) => Object.entries(members).every(([key, value]) => line[key] === value));
      if (found) resolve(found);
    };
    this.#waiting.add(look);
    look();
    void this.exit.then(({ stderr }) => reject(new Error(`it ended: ${stderr}${this.lines.join('\n')}`)));
    try {
      return await promise;
    } finally {
      this.#waiting.delete(look);
    }
  }

  async port(listener: 'secure' | 'insecure'): Promise<number> {
    return Number((await this.line({ message: 'listening', listener }))['port']);
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }
}

/** A folder with a configuration, and the programs that a test starts in it. */
export class Workplace {
  readonly folder: string;
  readonly #programs: Program[] = [];

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async make(): Promise<Workplace> {
    const folder = await mkdtemp(join(tmpdir(), 'program-'));
    await writeFile(join(folder, 'no-cluster'), NO_CLUSTER);
    await openServingFiles(folder, { dns: ['localhost'], ip: ['127.0.0.1'] });
    return new Workplace(folder);
  }

  /** Starts the server on free ports; `configuration` replaces whole sections. */
  async start(
    configuration: Readonly<Record<string, unknown>> = {},
    imports: readonly string[] = [],
  ): Promise<Program> {
    await this.configure(
      stringify({
        apiVersion: 'config.platform.io/v1alpha1',
        kind: 'APIServerConfiguration',
        listeners: {
          secure: SECURE_LISTENER,
          insecure: { address: '127.0.0.1', port: 0 },
        },
        kubernetes: { kubeconfig: 'no-cluster' },
        shutdown: { readinessDelay: '0s' },
        ...configuration,
      }),
    );
    return this.run(['--config', 'config.yaml'], imports);
  }

  async configure(text: string): Promise<void> {
    await writeFile(join(this.folder, 'config.yaml'), text);
  }

  run(args: readonly string[], imports: readonly string[] = []): Program {
    const program = new Program(args, this.folder, imports);
    this.#programs.push(program);
    return program;
  }

  /** The CA certificate of the server, in PEM. */
  async ca(): Promise<string> {
    return readFile(join(this.folder, 'serving-ca.crt'), 'utf8');
  }

  async remove(): Promise<void> {
    for (const program of this.#programs) program.signal('SIGKILL');
    for (const program of this.#programs) removeNote(program);
    await Promise.all(this.#programs.map((program) => program.exit));
    await rm(this.folder, { recursive: true });
  }
}

/** Status and body of a GET over TLS, on a new connection. */
export async function get(port: number, path: string, ca: string): Promise<{ status: number; body: string }> {
  const sent = request({ host: '127.0.0.1', port, path, ca, agent: false });
  sent.end();
  const [answer] = await once(sent, 'response');
  let body = '';
  for await (const chunk of answer) body += String(chunk);
  return { status: answer.statusCode, body };
}
