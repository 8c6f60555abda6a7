// Tests of the header traceparent, with the examples and the rules of W3C Trace Context.
import { expect } from 'chai';
import {
  formatTraceparent,
  parseTraceparent,
  runInTrace,
  runUntraced,
  startCall,
} from '../../../../server/upstream/trace-context.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';

describe('the header traceparent', () => {
  it('contains trace, span and the flag of a sample', () => {
    for (const [flags, isSampled] of [
      ['00', false],
      ['01', true],
      // Other bits are for later versions.
      ['02', false],
      ['ff', true],
    ] as const) {
      expect(parseTraceparent(`00-${TRACE}-${SPAN}-${flags}`), flags).to.deep.equal({
        traceID: TRACE,
        spanID: SPAN,
        isSampled,
      });
    }
  });

  it('is accepted in a later version, which may have further fields', () => {
    for (const header of [`01-${TRACE}-${SPAN}-01`, `cc-${TRACE}-${SPAN}-01-what-the-future-brings`]) {
      expect(parseTraceparent(header), header).to.include({ traceID: TRACE, isSampled: true });
    }
  });

  it('is ignored if it is malformed', () => {
    for (const header of [
      undefined,
      '',
      `00-${TRACE}-${SPAN}`,
      `00-${TRACE}-${SPAN}-1`,
      `00-${TRACE}-${SPAN}-01-more`,
      `00-${TRACE}-${SPAN}-01 `,
      `00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`,
      `00-${TRACE}-${SPAN}-01\n`,
      `00-${TRACE.toUpperCase()}-${SPAN}-01`,
      `00-${'0'.repeat(32)}-${SPAN}-01`,
      `00-${TRACE}-${'0'.repeat(16)}-01`,
      `00-${TRACE}0-${SPAN}-01`,
      `ff-${TRACE}-${SPAN}-01`,
      `cc-${TRACE}-${SPAN}-01.more`,
      `0-${TRACE}-${SPAN}-01`,
    ]) {
      expect(parseTraceparent(header), String(header)).to.equal(undefined);
    }
    expect(parseTraceparent([`00-${TRACE}-${SPAN}-01`])).to.equal(undefined);
  });

  it('is written in the version 00', () => {
    for (const isSampled of [true, false]) {
      const parent = { traceID: TRACE, spanID: SPAN, isSampled };
      expect(parseTraceparent(formatTraceparent(parent))).to.deep.equal(parent);
    }
  });
});

describe('a call to another server', () => {
  it('belongs to the trace of the request that waits for it, and to none in the background', async () => {
    const traceOf = (traceparent: string) => ({
      startCall: () => ({ traceparent, ended: () => undefined }),
    });
    const seen = async (name: string): Promise<string> => {
      await Promise.resolve();
      return `${name}: ${startCall('GET', 'https://kubernetes')?.traceparent}`;
    };
    const results: Promise<string>[] = [seen('outside')];
    runInTrace(traceOf('first'), () => {
      results.push(seen('first'));
      results.push(runUntraced(() => seen('background')));
      results.push(seen('first again'));
    });
    runInTrace(traceOf('second'), () => results.push(seen('second')));
    expect(await Promise.all(results)).to.deep.equal([
      'outside: undefined',
      'first: first',
      'background: undefined',
      'first again: first',
      'second: second',
    ]);
  });
});
