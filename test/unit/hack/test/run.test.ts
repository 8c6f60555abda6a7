// Tests of the order of the stages of `npm test`.
import { expect } from 'chai';
import { runStages } from '../../../../hack/test/run.ts';
import type { Stage, StageContext } from '../../../../hack/test/stage.ts';

/** A suite that runs until `end`. */
function endless(name: string, events: string[], isAlone = false) {
  const ended = Promise.withResolvers<void>();
  let context: StageContext | undefined;
  const stage: Stage = {
    name,
    kind: 'suite',
    cure: '',
    isAlone,
    run: async (given) => {
      context = given;
      events.push(`${name} runs`);
      await ended.promise;
      return { tally: { passed: 1, failed: 0, skipped: 0 }, problems: [] };
    },
  };
  return { stage, end: ended.resolve, startLast: () => context?.lastStarted() };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('the stages of npm test', () => {
  it('overlap with the last process of the suite before, except those that run alone', async () => {
    const events: string[] = [];
    const [one, two] = [endless('one', events), endless('two', events)];
    const [load, last] = [endless('load', events, true), endless('last', events)];
    const all = runStages(
      [one, two, load, last].map(({ stage }) => stage),
      {
        root: '/',
        env: {},
        signal: new AbortController().signal,
        progress: () => {},
      },
    );
    await turn();
    expect(events).to.deep.equal(['one runs']);
    one.startLast();
    await turn();
    expect(events).to.deep.equal(['one runs', 'two runs']);
    two.startLast();
    two.end();
    await turn();
    expect(events).to.have.length(2);
    one.end();
    await turn();
    expect(events).to.deep.equal(['one runs', 'two runs', 'load runs']);
    load.startLast();
    await turn();
    expect(events).to.have.length(3);
    load.end();
    await turn();
    expect(events.at(-1)).to.equal('last runs');
    last.end();
    expect((await all).map(({ stage }) => stage.name)).to.deep.equal(['one', 'two', 'load', 'last']);
  });
});
