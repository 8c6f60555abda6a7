// Exec credential plugin that blocks until the test releases it.
import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Exits when it is released or removed. */
const SCRIPT = `
echo run >> runs
while [ -e runs ] && ! [ -e answer ]; do sleep 0.01; done
cat answer
`;

/** An exec plugin that blocks until it is released, like one that prompts the user. */
export class HeldPlugin {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  static async make(): Promise<HeldPlugin> {
    return new HeldPlugin(await mkdtemp(join(tmpdir(), 'plugin-')));
  }

  /** The user entry of a kubeconfig. */
  get user() {
    const args = ['-c', `cd '${this.#folder}' && ${SCRIPT}`];
    return { exec: { apiVersion: 'client.authentication.k8s.io/v1', command: '/bin/sh', args } };
  }

  async release(token: string): Promise<void> {
    const file = join(this.#folder, 'answer');
    const credential = {
      apiVersion: 'client.authentication.k8s.io/v1',
      kind: 'ExecCredential',
      status: { token },
    };
    await writeFile(`${file}.new`, JSON.stringify(credential));
    await rename(`${file}.new`, file);
  }

  /** Number of starts. */
  async runs(): Promise<number> {
    return (await readFile(join(this.#folder, 'runs'), 'utf8')).split('\n').length - 1;
  }

  async remove(): Promise<void> {
    await rm(this.#folder, { recursive: true });
  }
}
