// Tests of the limit of parallel test processes.
import { expect } from 'chai';
import { Jobs } from '../../../../hack/test/jobs.ts';

describe('the jobs of npm test', () => {
  it('run in the order of the calls, at most as many as allowed, also after a failure', async () => {
    const jobs = new Jobs(2);
    const started: string[] = [];
    const ends = new Map<string, PromiseWithResolvers<void>>();
    const run = (name: string): Promise<void> => {
      const end = Promise.withResolvers<void>();
      ends.set(name, end);
      return jobs.run(() => {
        started.push(name);
        return end.promise;
      });
    };
    const [a, b, c, d] = [run('a'), run('b'), run('c'), run('d')];
    expect(started).to.deep.equal(['a', 'b']);
    ends.get('b')?.reject(new Error('failed'));
    expect(await b.catch(String)).to.equal('Error: failed');
    expect(started).to.deep.equal(['a', 'b', 'c']);
    ends.get('a')?.resolve();
    await a;
    expect(started).to.deep.equal(['a', 'b', 'c', 'd']);
    for (const name of ['c', 'd']) ends.get(name)?.resolve();
    await Promise.all([c, d]);
  });
});
