import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { endLeftovers, processesWith } from '../../../hack/test/leftovers.ts';
import { forgetNote, noteOnFailure } from '../../support/failure-notes.ts';

export interface StartOptions {
  /** Another npm script than `start`. */
  readonly script?: string;
  /** Besides the environment of the test. */
  readonly env?: NodeJS.ProcessEnv;
}

/** `npm start`, or another script, as somebody typed it in a terminal. */
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
      // A group of its own stands for the terminal: Ctrl-C goes to all of it.
      detached: true,
      // Should this process be killed, it ends as well.
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

  /** The commands that it told us to type, one a line. */
  get advice(): string[] {
    return this.#output
      .split('\n')
      .filter((line) => /^ {2}\S/.test(line))
      .map((line) => line.trim());
  }

  /** Resolves when this has been printed; rejects with the output when the program ends before. */
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

  /** As the terminal does it: everything in the foreground gets it. */
  signal(signal: NodeJS.Signals): void {
    if (this.#child.pid !== undefined) process.kill(-this.#child.pid, signal);
  }

  /** Kills npm alone. */
  killNpm(): void {
    this.#child.kill('SIGKILL');
  }

  /** Resolves when nothing that it started runs any more. */
  async gone(): Promise<void> {
    while ((await processesWith(this.#mark)).length > 0) await delay(100);
  }

  /** The exit code, and what was left running (it is ended). */
  async end(): Promise<{ code: number | null; left: string[] }> {
    const code = await this.#ended;
    return { code, left: await endLeftovers(this.#mark) };
  }

  /** For an after hook: whatever happened, nothing of it stays. */
  async kill(): Promise<void> {
    forgetNote(this);
    await endLeftovers(this.#mark);
    await this.#ended;
  }
}
