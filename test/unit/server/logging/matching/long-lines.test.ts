// Tests of the worker thread that matches long lines.
import { expect } from 'chai';
import { pino } from 'pino';
import { LongLines } from '../../../../../server/logging/matching/long-lines.ts';
import type { TextFilter } from '../../../../../server/logging/store/log-store.ts';

/** A slow pattern, and a line with many partial matches. */
const SLOW: TextFilter = { mode: 'regex', texts: ['[ab]*a[ab]{400}c'], caseSensitive: true };
const LETTERS = Array.from({ length: 100_000 }, (_, at) => ((at * 7_919) % 31 < 15 ? 'a' : 'b')).join('');

describe('LongLines', () => {
  const { signal } = new AbortController();
  const log = pino({ enabled: false });
  let longLines: LongLines;

  beforeEach(() => {
    longLines = new LongLines({ log });
  });

  afterEach(() => longLines.close());

  it('ends aborted matches, also queued ones', async () => {
    const [left, other] = [new AbortController(), new AbortController()];
    const looks = [
      longLines.matches(SLOW, LETTERS, left.signal),
      longLines.matches(SLOW, LETTERS, other.signal),
      longLines.matches({ mode: 'substring', texts: ['b'], caseSensitive: true }, LETTERS, signal),
    ];
    other.abort(new Error('other'));
    left.abort(new Error('left'));
    const answers = await Promise.all(looks.map((look) => look.catch((error: unknown) => error)));
    expect(answers[0]).to.include({ message: 'left' });
    expect(answers[1]).to.include({ message: 'other' });
    expect(answers[2]).to.equal(true);
    const late = longLines.matches(SLOW, LETTERS, left.signal);
    expect(await late.catch((error: unknown) => error)).to.include({ message: 'left' });
  });

  it('alternates between callers', async () => {
    const order: string[] = [];
    const text: TextFilter = { mode: 'substring', texts: ['b'], caseSensitive: true };
    const look = async (caller: string): Promise<void> => {
      await longLines.of(caller).matches(text, LETTERS, signal);
      order.push(caller);
    };
    await Promise.all(['mallory', 'mallory', 'mallory', 'mallory', 'jane'].map(look));
    expect(order).to.deep.equal(['mallory', 'mallory', 'jane', 'mallory', 'mallory']);
  });

  it('rejects with the error of the thread, and starts another thread', async () => {
    const fails = `export default ({ line }) => {
      for (const all = []; line === 'too much'; ) all.push(Array(1_000_000).fill(0.5));
      if (line === 'wrong') throw new Error('wrong line');
      return true;
    }`;
    const failing = new LongLines({
      log,
      thread: new URL(`data:text/javascript,${encodeURIComponent(fails)}`),
    });
    const look = (line: string): Promise<unknown> =>
      failing.matches(SLOW, line, signal).catch((error: unknown) => error);
    try {
      const [tooMuch, wrong, fine] = await Promise.all([look('too much'), look('wrong'), look('fine')]);
      expect(tooMuch).to.include({ code: 'ERR_WORKER_OUT_OF_MEMORY' });
      expect(wrong).to.include({ message: 'wrong line' });
      expect(fine).to.equal(true);
    } finally {
      await failing.close();
    }
  });
});
