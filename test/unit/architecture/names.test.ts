// Tests of file names: a name means one thing in the server and in the wire formats.
import { posix } from 'node:path';
import { expect } from 'chai';
import { projectFiles } from './repository.ts';

/** Names of the same part of each API group, or of each log store. */
const SAME_PART = new Set([
  'counts.ts',
  'export.ts',
  'group-version.ts',
  'selection-query.ts',
  'self-check.ts',
]);

/** The files that share their name with another file in another folder. */
function twins(files: readonly string[]): string[] {
  const byName = Map.groupBy(files, (file) => posix.basename(file));
  return [...byName].flatMap(([name, found]) => (found.length > 1 && !SAME_PART.has(name) ? found : []));
}

/** The files beside a folder of the same name. */
function besideFolders(files: readonly string[]): string[] {
  const folders = new Set(files.map((file) => posix.dirname(file)));
  return files.filter((file) => folders.has(file.replace(/\.ts$/, '')));
}

const files = [...projectFiles().keys()].filter((file) => /^(?:server|apis)\//.test(file));

describe('the name of a file of server/ and apis/', () => {
  it('is used once', () => {
    expect(files).to.not.have.length(0);
    expect(twins(files)).to.deep.equal([]);
  });

  it('is not the name of a folder beside it', () => {
    expect(besideFolders(files)).to.deep.equal([]);
  });

  it('is reported if it has two meanings', () => {
    const same = ['apis/meta/v1/discovery.ts', 'server/oauth/discovery.ts', 'server/oauth/oauth.ts'];
    expect(twins(same)).to.deep.equal(same.slice(0, 2));
    expect(besideFolders(['server/oauth.ts', ...same])).to.deep.equal(['server/oauth.ts']);
  });
});
