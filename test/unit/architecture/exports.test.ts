// Tests of exported names: a name that no other file imports belongs to its file alone.
import { expect } from 'chai';
import { unusedExports } from './exports.ts';
import { projectFiles } from './repository.ts';

describe('an exported name of server/, apis/, hack/ and test/', () => {
  it('is imported by another file', () => {
    const isChosen = (file: string): boolean => /^(?:server|apis|hack|test)\/.*\.ts$/.test(file);
    expect(unusedExports(projectFiles(), isChosen)).to.deep.equal([]);
  });

  it('is reported if no file imports it', () => {
    const files = new Map([
      ['a/store.ts', 'export const used = 1;\nexport interface Alone {}\nexport async function main() {}\n'],
      ['a/main.ts', "const { main } = await import('./store.ts');\n"],
      ['b/reader.ts', "import { used } from '../a/store.ts';\n"],
      ['b/other.ts', 'const Alone = 1;\n'],
    ]);
    expect(unusedExports(files, () => true)).to.deep.equal(['a/store.ts: Alone']);
  });
});
