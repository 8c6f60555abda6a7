// Tests of the lists in server/README.md of the source files that handle each kind of request. Each source file must
// be connected to an earlier one by imports.
import { expect } from 'chai';
import { JOURNEYS_DOCUMENT, journeysIn } from '../../support/journeys.ts';
import { importsOf } from './import-graph.ts';
import { projectFiles } from './repository.ts';

const files = projectFiles();

function isConnected(one: string, other: string): boolean {
  const imports = (from: string, to: string): boolean =>
    importsOf(from, files.get(from) ?? '').some((found) => found.to === to);
  return imports(one, other) || imports(other, one);
}

describe('the journeys of server/README.md', () => {
  const journeys = journeysIn(files.get(JOURNEYS_DOCUMENT) ?? '');

  it('exist', () => {
    expect(journeys.size).to.be.at.least(2);
  });

  for (const [title, steps] of journeys) {
    // The composition root connects the router with the handler, the second step.
    it(`are connected by imports, each file with an earlier one: ${title}`, () => {
      expect(steps.filter((file) => !files.has(file))).to.deep.equal([]);
      const unconnected = steps
        .slice(2)
        .filter((file, index) => !steps.slice(0, index + 2).some((earlier) => isConnected(earlier, file)));
      expect(unconnected).to.deep.equal([]);
    });
  }
});
