// Tests of the architecture: imports follow the layers and have no cycles.
import { expect } from 'chai';
import { backwardImports, betweenFolders, betweenParts, cycleIn, importsOf } from './import-graph.ts';
import { projectFiles } from './repository.ts';

const imports = [...projectFiles()]
  .filter(([file]) => file.endsWith('.ts'))
  .flatMap(([file, source]) => importsOf(file, source));

describe('the imports of the project', () => {
  it('are found', () => {
    expect(imports).to.deep.include({ from: 'server/config/config.ts', to: 'server/config/environment.ts' });
    expect(
      importsOf('a/b.ts', "import type { C } from '../c.ts';\nconst d = await import('./d.ts');\n"),
    ).to.deep.equal([
      { from: 'a/b.ts', to: 'c.ts' },
      { from: 'a/b.ts', to: 'a/d.ts' },
    ]);
  });

  it('point one way, from the server down to the wire formats', () => {
    // hack/test and the reporter share the type of the test record.
    const known = new Set(['test/support/reporter.ts']);
    expect(backwardImports(imports.filter(({ to }) => !known.has(to)))).to.deep.equal([]);
  });

  it('have no cycle between files', () => {
    expect(cycleIn(imports)).to.deep.equal([]);
  });

  it('have no cycle between the parts of the server', () => {
    const server = betweenParts(imports).filter(({ from }) => from.startsWith('server/'));
    expect(cycleIn(server)).to.deep.equal([]);
  });

  it('have no cycle between folders', () => {
    for (const part of ['apis/', 'server/', 'hack/', 'test/']) {
      const inside = imports.filter(({ from, to }) => from.startsWith(part) && to.startsWith(part));
      expect(cycleIn(betweenFolders(inside)), part).to.deep.equal([]);
    }
  });
});

describe('the rule about imports', () => {
  it('rejects an import from a layer above', () => {
    expect(backwardImports([{ from: 'server/cache/store.ts', to: 'server/rest/get.ts' }])).to.have.length(1);
    expect(
      backwardImports([{ from: 'apis/meta/v1/status.ts', to: 'server/config/config.ts' }]),
    ).to.have.length(1);
    expect(backwardImports([{ from: 'server/server.ts', to: 'hack/start.ts' }])).to.have.length(1);
  });

  it('rejects an unknown folder', () => {
    expect(backwardImports([{ from: 'server/misc/store.ts', to: 'apis/meta/v1/status.ts' }])).to.have.length(
      1,
    );
  });

  it('reports a cycle', () => {
    const edges = [
      { from: 'a', to: 'b' },
      { from: 'b', to: 'c' },
      { from: 'c', to: 'b' },
    ];
    expect(cycleIn(edges)).to.deep.equal(['b', 'c', 'b']);
    const files = [
      { from: 'server/a/handler.ts', to: 'server/a/b/store.ts' },
      { from: 'server/a/b/store.ts', to: 'server/a/b/bytes.ts' },
      { from: 'server/a/b/bytes.ts', to: 'server/a/names.ts' },
    ];
    expect(cycleIn(files)).to.deep.equal([]);
    expect(cycleIn(betweenFolders(files))).to.deep.equal(['server/a', 'server/a/b', 'server/a']);
  });
});
