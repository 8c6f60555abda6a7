import { setImmediate as round } from 'node:timers/promises';
import { expect } from 'chai';
import { Turns } from '../../../../../server/concurrency/turns.ts';
import { encodedAnswer } from '../../../../../server/logging/answers/encoded-answer.ts';

describe('an answer as JSON', () => {
  const { signal } = new AbortController();
  const answerOf = (...lines: string[]) => ({
    query: {
      total: lines.length,
      totalRelation: 'eq' as const,
      records: lines.map((log) => ({
        log,
        time: '2026-11-20T10:00:00.000000000Z',
        namespace: 'shop',
        pod: 'cart-0',
        container: 'cart',
        id: '"records":[]',
        highlights: [[0, 1]] as [number, number][],
      })),
      cursor: '"records":[]',
    },
    took: 7,
  });

  it('is the same with long lines as with short ones', async () => {
    const long = '\u0001"é\u{1f600}'.repeat(100_000);
    for (const answer of [answerOf(), answerOf('x'), answerOf(long, '', long, 'x', long)]) {
      const text = String(await encodedAnswer(answer, { turns: new Turns(), signal }));
      expect(text).to.equal(`${JSON.stringify(answer)}\n`);
    }
    expect(await encodedAnswer({ took: 7 }, { turns: new Turns(), signal })).to.equal('{"took":7}\n');
  });

  it('lets everything else run between two long lines', async () => {
    const answer = answerOf(...Array.from({ length: 6 }, () => '\u0001'.repeat(1 << 20)));
    const done: (string | Buffer)[] = [];
    const encoding = encodedAnswer(answer, { turns: new Turns(), signal }).then((text) => done.push(text));
    let rounds = 0;
    for (; done.length === 0; rounds++) await round();
    await encoding;
    expect(rounds).to.be.above(5);
  });

  it('is made no further when nobody wants it any more', async () => {
    const answer = answerOf('x'.repeat(1 << 20), 'y'.repeat(1 << 20));
    const reason = new Error('gone');
    const encoding = encodedAnswer(answer, { turns: new Turns(), signal: AbortSignal.abort(reason) });
    expect(await encoding.catch((error: unknown) => error)).to.equal(reason);
  });
});
