// Tests of `npm run dev`, the server with a restart after each saved file.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { ClonedProject } from './clone.ts';

describe('npm run dev', function () {
  this.timeout(300_000);

  const clone = new ClonedProject();

  async function save(change: (text: string) => string): Promise<void> {
    const file = join(clone.dir, 'server/config/options.ts');
    await writeFile(file, change(await readFile(file, 'utf8')));
  }

  it('restarts the server on save, also after it has exited with an error, and stops with Ctrl-C', async () => {
    const program = clone.start([], {}, 'dev');
    await program.printed(/Ctrl-C stops everything/);
    await save((text) => `throw new Error('a slip');\n${text}`);
    await program.printed(/the server exited with 1; it restarts when one of its files is saved/);
    await save((text) => text.replace(/^.*\n/, ''));
    await program.printed(/ listening[^]* stopped[^]* listening/);
    program.signal('SIGINT');
    expect(await program.end()).to.deep.equal({ code: 130, left: [] });
  });
});
