// Tests of the division of test files into processes.
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { byEnvironment, inShares, together } from '../../../../hack/test/groups.ts';
import { scratchFolder } from '../../../support/scratch.ts';

const FILES = ['a/one', 'b/two', 'a/three', 'b/four'].map((name) => `test/${name}.test.ts`);
const [ONE, TWO, THREE, FOUR] = FILES;

describe('the test files of a suite', () => {
  it('run in one process, or in shares of equal size', async () => {
    expect(await together(FILES, '')).to.deep.equal([FILES]);
    expect(await inShares(3)(FILES, '')).to.deep.equal([[ONE, FOUR], [TWO], [THREE]]);
  });

  it('run in one process if they share an environment', async () => {
    await using folder = await scratchFolder();
    const imports = [
      "'./shared-cluster.ts'",
      "'../a/shared-cluster.ts'",
      "'../../server/secrets/shared-cluster.ts'",
      "'./shared-cluster.ts'",
    ];
    for (const [index, file] of FILES.entries()) {
      await mkdir(dirname(join(folder.path, file)), { recursive: true });
      await writeFile(join(folder.path, file), `import { cluster } from ${imports[index]};\n`);
    }
    expect(await byEnvironment(FILES, folder.path)).to.deep.equal([[ONE, TWO], [THREE], [FOUR]]);
  });
});
