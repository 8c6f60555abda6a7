import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { newLogQueryDecoder } from '../../../../../apis/logging/v1alpha2/log-query-decoder.ts';
import { Turns } from '../../../../../server/concurrency/turns.ts';
import { answered } from '../../../../../server/logging/answers/answered-records.ts';
import { patternError } from '../../../../../server/logging/matching/regex-dialect.ts';

const decoder = newLogQueryDecoder({ pattern: patternError });
const queryOf = (parameters: string) => decoder.decode(new URLSearchParams(parameters));

const RECORD = {
  time: '2026-01-01T00:00:00.000000000Z',
  namespace: 'shop',
  pod: 'web-0',
  container: 'web',
  log: 'one line',
};

describe('records as they are answered', () => {
  it('let everything else run once their slice of time is used up, with highlights and without', async () => {
    for (const parameters of ['', 'highlight=true&log_query=line']) {
      const turns = new Turns(0);
      const { signal } = new AbortController();
      let others = 0;
      const working = answered(queryOf(parameters), [RECORD, RECORD, RECORD], { turns, signal });
      const done = working.then(() => 'answered');
      while ((await Promise.race([done, nextTurn('still at it')])) !== 'answered') others++;
      expect(others, parameters).to.be.at.least(3);
    }
  });

  it('are the same with highlights, which come on top', async () => {
    const call = { turns: new Turns(), signal: new AbortController().signal };
    const [plain] = await answered(queryOf('log_query=line'), [RECORD], call);
    const [marked] = await answered(queryOf('highlight=true&log_query=line'), [RECORD], call);
    expect(plain)
      .to.include(RECORD)
      .and.to.have.all.keys(...Object.keys(RECORD), 'id');
    expect(marked).to.deep.equal({ ...plain, highlights: [[4, 8]] });
  });

  it('are given up with the caller, also halfway', async () => {
    const caller = new AbortController();
    const working = answered(queryOf(''), [RECORD, RECORD, RECORD], {
      turns: new Turns(0),
      signal: caller.signal,
    }).catch((failure: unknown) => failure);
    await nextTurn();
    caller.abort(new Error('gone'));
    expect(await working).to.have.property('message', 'gone');
  });

  it('are not begun for a caller who has gone', async () => {
    const gone = AbortSignal.abort(new Error('gone'));
    const error: unknown = await answered(queryOf(''), [RECORD], {
      turns: new Turns(),
      signal: gone,
    }).catch((failure: unknown) => failure);
    expect(error).to.have.property('message', 'gone');
  });
});
