// Creates temporary copies of the repository, for tests of `npm start`.
import { cp, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StartedProgram } from './started-program.ts';

const root = join(import.meta.dirname, '../../..');
const PARTS = [
  ...['apis', 'client', 'explore', 'hack', 'manifests', 'server'],
  ...['package.json', 'package-lock.json', '.npmrc'],
];

/**
 * A copy of the project with its dependencies and without state, for all tests of a `describe`. The name of its folder
 * contains special characters of shells, URLs and patterns.
 */
export class ClonedProject {
  #parent = '';
  readonly #programs: StartedProgram[] = [];

  constructor() {
    before(async () => {
      this.#parent = await mkdtemp(join(tmpdir(), 'ks-clone-'));
      await mkdir(this.dir);
      const copy = (part: string) => cp(join(root, part), join(this.dir, part), { recursive: true });
      await Promise.all(PARTS.map(copy));
      await symlink(join(root, 'node_modules'), join(this.dir, 'node_modules'));
    });
    afterEach(async () => {
      for (const program of this.#programs.splice(0)) await program.kill();
    });
    after(async () => {
      if (this.#parent !== '') await rm(this.#parent, { recursive: true, force: true, maxRetries: 5 });
    });
  }

  get dir(): string {
    return join(this.#parent, 'Prüfung #1 (50%41)');
  }

  /** Runs `npm start` or another script, until the end of the test at the latest. `env` is added to that of the test. */
  start(args: readonly string[] = [], env: NodeJS.ProcessEnv = {}, script = 'start'): StartedProgram {
    const program = new StartedProgram(this.dir, args, { env, script });
    this.#programs.push(program);
    return program;
  }
}
