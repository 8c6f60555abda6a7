// Tests of the division of test files into processes.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { byEnvironment, inShares, together } from '../../../../hack/test/groups.ts';
import { scratchFolder } from '../../../support/scratch.ts';

const FILES = ['test/a/one.test.ts', 'test/b/two.test.ts', 'test/a/three.test.ts', 'test/b/four.test.ts'];

describe('the test files of a suite', () => {
  it('run in one process, or in shares of equal size', async () => {
    expect(await together(FILES, '')).to.deep.equal([FILES]);
    expect(await inShares(3)(FILES, '')).to.deep.equal([
      ['test/a/one.test.ts', 'test/b/four.test.ts'],
      ['test/b/two.test.ts'],
      ['test/a/three.test.ts'],
    ]);
  });

  it('run in one process if they share an environment', async () => {
    await using folder = await scratchFolder();
    await mkdir(join(folder.path, 'test/a'), { recursive: true });
    await writeFile(join(folder.path, 'test/a/shared-cluster.ts'), '');
    expect(await byEnvironment(FILES, folder.path)).to.deep.equal([
      ['test/a/one.test.ts', 'test/a/three.test.ts'],
      ['test/b/two.test.ts'],
      ['test/b/four.test.ts'],
    ]);
  });
});
