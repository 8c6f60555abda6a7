// Tests of the progress reports of `npm start`.
import { expect } from 'chai';
import { stepsWith } from '../../../../hack/start/steps.ts';

describe('a step of npm start', () => {
  it('reports the elapsed time while the work reports nothing', async () => {
    const reported = Promise.withResolvers<string>();
    await stepsWith((line, transient) => {
      if (transient) reported.resolve(line);
    })('Server', async () => {
      await reported.promise;
    });
    expect(await reported.promise).to.match(/^Server \(\d+s\)$/);
  });

  it('does not report completion after a failure', async () => {
    const lines: string[] = [];
    const outcome = await stepsWith((line) => lines.push(line))('Server', () =>
      Promise.reject(new Error('no port')),
    ).catch((error: unknown) => error);
    expect(outcome).to.be.an('error').with.property('message', 'no port');
    expect(lines).to.deep.equal([]);
  });
});
