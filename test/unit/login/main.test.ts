// Tests of the program `npm run login` without a server: exit codes and messages.
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { scratchFolder } from '../../support/scratch.ts';

const MAIN = join(import.meta.dirname, '../../../login/main.ts');

describe('the program npm run login', () => {
  let folder: Awaited<ReturnType<typeof scratchFolder>>;
  beforeEach(async () => {
    folder = await scratchFolder();
  });
  afterEach(() => folder[Symbol.asyncDispose]());

  function run(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
    const options = { env: { HOME: folder.path, ...env } };
    return new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
      execFile(process.execPath, [MAIN, ...args], options, (error, stdout, stderr) =>
        resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
      );
    });
  }

  it('reads files relative to the folder in which npm was started', async () => {
    await writeFile(join(folder.path, 'ca.crt'), 'no certificate');
    const npm = { npm_lifecycle_event: 'login', INIT_CWD: folder.path };
    const { code, stderr } = await run(['https://api.example.com', '--ca', 'ca.crt'], npm);
    expect(code).to.equal(1);
    expect(stderr).to.equal('ks-login: ca.crt contains no certificate in PEM format\n');
  });
});
