// Creates temporary copies of the repository, for tests of `npm start`.
import { cp, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StartedProgram } from './started-program.ts';

const root = join(import.meta.dirname, '../../..');
const PARTS = ['apis', 'hack', 'manifests', 'server', 'package.json', 'package-lock.json', '.npmrc'];

/**
 * Copies the project with its dependencies and without state, to a folder whose name contains special characters of
 * shells, URLs and patterns.
 */
export async function cloneProject(): Promise<{ dir: string; remove(): Promise<void> }> {
  const parent = await mkdtemp(join(tmpdir(), 'ks-clone-'));
  const dir = join(parent, 'Prüfung #1 (50%41)');
  await mkdir(dir);
  await Promise.all(PARTS.map((part) => cp(join(root, part), join(dir, part), { recursive: true })));
  await symlink(join(root, 'node_modules'), join(dir, 'node_modules'));
  return { dir, remove: () => rm(parent, { recursive: true, force: true, maxRetries: 5 }) };
}

/** A copy for all tests of a `describe`, in which they run `npm start`. */
export class ClonedProject {
  #clone: Awaited<ReturnType<typeof cloneProject>> | undefined;
  readonly #programs: StartedProgram[] = [];

  constructor() {
    before(async () => {
      this.#clone = await cloneProject();
    });
    afterEach(async () => {
      for (const program of this.#programs.splice(0)) await program.kill();
    });
    after(() => this.#clone?.remove());
  }

  get dir(): string {
    if (this.#clone === undefined) throw new Error('the project is not copied yet');
    return this.#clone.dir;
  }

  /** Runs `npm start`, until the end of the test at the latest. `env` is added to the environment of the test. */
  start(args: readonly string[] = [], env: NodeJS.ProcessEnv = {}): StartedProgram {
    const program = new StartedProgram(this.dir, args, { env });
    this.#programs.push(program);
    return program;
  }
}
