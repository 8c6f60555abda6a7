// Tests of the limit of parallel processes.
import { expect } from 'chai';
import { Jobs } from '../../../../hack/test/jobs.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('the jobs of npm test', () => {
  it('start in the order of the calls, when their seats are free', async () => {
    const jobs = new Jobs(3);
    const events: string[] = [];
    const start = (name: string, seats?: number) => {
      const ended = Promise.withResolvers<void>();
      const work = () => {
        events.push(name);
        return ended.promise;
      };
      return { end: ended.resolve, done: jobs.run(work, seats) };
    };
    const [one, two] = [start('one'), start('two')];
    const [alone, last] = [start('alone', 3), start('last')];
    await turn();
    expect(events).to.deep.equal(['one', 'two']);
    one.end();
    await turn();
    expect(events).to.have.length(2);
    two.end();
    await turn();
    expect(events).to.deep.equal(['one', 'two', 'alone']);
    alone.end();
    await turn();
    expect(events.at(-1)).to.equal('last');
    last.end();
    await Promise.all([one, two, alone, last].map(({ done }) => done));
  });

  it('free their seats after a failure', async () => {
    const jobs = new Jobs(1);
    const failed = jobs.run(() => Promise.reject(new Error('failed')));
    const next = jobs.run(async () => 'ran');
    expect(await failed.catch(({ message }: Error) => message)).to.equal('failed');
    expect(await next).to.equal('ran');
  });
});
