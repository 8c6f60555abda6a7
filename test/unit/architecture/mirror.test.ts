// Tests of the test layout: tests are in a folder of the same name as the sources.
import { posix } from 'node:path';
import { expect } from 'chai';
import { projectFiles } from './repository.ts';

const files = [...projectFiles().keys()];

/** Folders of the sources, and source files that have a folder of tests. */
const tested = new Set(
  files.flatMap((file) => {
    if (/^test\/(?:unit|integration)\//.test(file)) return [];
    // Test support has tests too.
    const own = file.replace(/^test\//, '');
    return [...foldersOf(own), own.replace(/\.(?:ts|mjs)$/, '')];
  }),
);

function foldersOf(file: string): string[] {
  const folder = posix.dirname(file);
  return folder === '.' ? [] : [folder, ...foldersOf(folder)];
}

/** Tests outside the folder of their source. */
function misplaced(tests: readonly string[]): string[] {
  return tests.filter((file) => {
    const [, folder = ''] = /^test\/(?:unit|integration)\/(?:(.*)\/)?[^/]+\.test\.ts$/.exec(file) ?? [];
    return folder !== 'architecture' && !tested.has(folder);
  });
}

describe('the tests of a folder', () => {
  it('are in a folder of the same name', () => {
    const tests = files.filter((file) => /^test\/(?:unit|integration)\/.*\.test\.ts$/.test(file));
    expect(tests).to.not.have.length(0);
    expect(misplaced(tests)).to.deep.equal([]);
  });

  it('are reported in another folder', () => {
    const elsewhere = ['test/unit/cache/snapshot.test.ts', 'test/integration/snapshot.test.ts'];
    expect(misplaced([...elsewhere, 'test/unit/server/cache/object-snapshot.test.ts'])).to.deep.equal(
      elsewhere,
    );
  });
});
