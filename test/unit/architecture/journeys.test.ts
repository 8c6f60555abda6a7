// Tests of the lists in server/README.md of the source files that handle each kind of request. Each source file must
// be connected to an earlier one by imports.
import { expect } from 'chai';
import { JOURNEYS_DOCUMENT, journeysIn, SHARED } from '../../support/journeys.ts';
import { importsOf } from './import-graph.ts';
import { projectFiles } from './repository.ts';

const files = projectFiles();

describe('the journeys of server/README.md', () => {
  const journeys = journeysIn(files.get(JOURNEYS_DOCUMENT) ?? '');
  const imported = new Map(
    [...new Set([...journeys.values()].flat())].map((file) => [
      file,
      new Set(importsOf(file, files.get(file) ?? '').map(({ to }) => to)),
    ]),
  );
  const isConnected = (one: string, other: string): boolean =>
    imported.get(one)?.has(other) === true || imported.get(other)?.has(one) === true;

  it('exist, with the lists that apply to all of them first', () => {
    expect([...journeys.keys()].slice(0, SHARED.length)).to.deep.equal(SHARED);
    expect(journeys.size).to.be.at.least(SHARED.length + 2);
  });

  const shared = SHARED.flatMap((title) => journeys.get(title) ?? []);
  for (const [title, own] of journeys) {
    it(`are connected by imports, each file with an earlier one: ${title}`, () => {
      expect(own.filter((file) => !files.has(file))).to.deep.equal([]);
      const steps = SHARED.includes(title) ? shared : [...shared, ...own];
      const unconnected = own
        .filter((file) => file !== steps[0])
        .filter((file) => !steps.slice(0, steps.indexOf(file)).some((earlier) => isConnected(earlier, file)));
      expect(unconnected).to.deep.equal([]);
    });
  }
});
