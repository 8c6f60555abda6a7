import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Ends when it is released, or removed. */
const SCRIPT = `
echo run >> runs
while [ -e runs ] && ! [ -e answer ]; do sleep 0.01; done
cat answer
`;

/** An exec plugin that gives no credentials until it is told to, as one that asks a person. */
export class HeldPlugin {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  static async make(): Promise<HeldPlugin> {
    return new HeldPlugin(await mkdtemp(join(tmpdir(), 'plugin-')));
  }

  /** Of a kubeconfig. */
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

  /** How often it was started. */
  async runs(): Promise<number> {
    return (await readFile(join(this.#folder, 'runs'), 'utf8')).split('\n').length - 1;
  }

  async remove(): Promise<void> {
    await rm(this.#folder, { recursive: true });
  }
}
