// Driver that runs `npm start` and other npm scripts in tests.
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { endLeftovers, processesWith } from '../../../hack/test/leftovers.ts';
import { noteOnFailure, removeNote } from '../../support/failure-notes.ts';
import { until } from '../../support/until.ts';

interface StartOptions {
  /** Name of the npm script; `start` by default. */
  readonly script?: string;
  /** Added to the environment of the test. */
  readonly env?: NodeJS.ProcessEnv;
}

/** `npm start` or another script, as in a terminal. */
export class StartedProgram {
  readonly #child: ChildProcess;
  readonly #mark = `KS_START_TEST=${randomUUID()}`;
  readonly #ended: Promise<number | null>;
  #output = '';
  #seen: (() => void) | undefined;

  constructor(dir: string, args: readonly string[] = [], { script = 'start', env = {} }: StartOptions = {}) {
    const [name, value] = this.#mark.split('=') as [string, string];
    this.#child = spawn('npm', ['run', script, '--', ...args], {
      cwd: dir,
      // The process group simulates a terminal: Ctrl-C goes to the whole group.
      detached: true,
      // The program exits if this process is killed.
      env: { ...process.env, KS_START_PARENT: String(process.pid), ...env, [name]: value },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.#output += text;
        this.#seen?.();
      });
    }
    noteOnFailure(this, `what npm ${script} has printed`, () => this.#output);
    this.#ended = new Promise((resolve) => {
      this.#child.once('close', (code) => {
        resolve(code);
        this.#seen?.();
      });
    });
  }

  get output(): string {
    return this.#output;
  }

  /** The printed commands, one per line. */
  get advice(): string[] {
    return this.#output
      .split('\n')
      .filter((line) => /^ {2}\S/.test(line))
      .map((line) => line.trim());
  }

  /** Resolves when the output matches; rejects with the output if the program exits before. */
  async printed(pattern: RegExp): Promise<void> {
    let code: number | null | undefined;
    void this.#ended.then((ended) => {
      code = ended;
    });
    while (!pattern.test(this.#output)) {
      if (code !== undefined) throw new Error(`ended with ${code} before ${pattern}:\n${this.#output}`);
      await new Promise<void>((resolve) => {
        this.#seen = resolve;
      });
      await Promise.resolve();
    }
  }

  /** Sends a signal to the whole group, as a terminal does. */
  signal(signal: NodeJS.Signals): void {
    if (this.#child.pid !== undefined) process.kill(-this.#child.pid, signal);
  }

  /** Kills only npm. */
  killNpm(): void {
    this.#child.kill('SIGKILL');
  }

  /** Resolves when all programs that it started have exited. */
  async gone(): Promise<void> {
    await until(async () => (await processesWith(this.#mark)).length === 0);
  }

  /** Waits for the exit; returns the exit code and the processes that were left running, which it kills. */
  async end(): Promise<{ code: number | null; left: string[] }> {
    const code = await this.#ended;
    return { code, left: await endLeftovers(this.#mark) };
  }

  /** Kills everything, for an after hook. */
  async kill(): Promise<void> {
    removeNote(this);
    await endLeftovers(this.#mark);
    await this.#ended;
  }
}
