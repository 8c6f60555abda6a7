// Tests of the order of the stages of `npm test`.
import { expect } from 'chai';
import { runStages } from '../../../../hack/test/run.ts';
import type { Stage, StageContext } from '../../../../hack/test/stage.ts';

/** A suite that runs until `end`. */
function endless(name: string, events: string[]) {
  const ended = Promise.withResolvers<void>();
  let context: StageContext | undefined;
  const stage: Stage = {
    name,
    kind: 'suite',
    cure: '',
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
  it('overlap with the last process of the stage before', async () => {
    const events: string[] = [];
    const [one, two, last] = [endless('one', events), endless('two', events), endless('last', events)];
    const all = runStages(
      [one, two, last].map(({ stage }) => stage),
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
    two.end();
    await turn();
    expect(events).to.deep.equal(['one runs', 'two runs', 'last runs']);
    last.end();
    one.end();
    expect((await all).map(({ stage }) => stage.name)).to.deep.equal(['one', 'two', 'last']);
  });
});
