import { expect } from 'chai';
import * as fc from 'fast-check';
import { Turns } from '../../../../../../../server/concurrency/turns.ts';
import {
  type LinesWanted,
  type RecordLines,
  recordLinesOf,
} from '../../../../../../../server/logging/backends/victorialogs/exporting/record-lines.ts';
import { byTime } from '../../../../../../../server/logging/backends/victorialogs/requests/record.ts';
import type { LogRecord, Order } from '../../../../../../../server/logging/log-store.ts';

async function* inChunks(bytes: Buffer, size: number): AsyncGenerator<Buffer, void, undefined> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

function read(
  answer: string | Buffer,
  { size = 1 << 16, ...wanted }: Partial<LinesWanted> & { readonly size?: number } = {},
): Promise<RecordLines[]> {
  const all: LinesWanted = { order: 'asc', isMeant: undefined, maxMoment: 1_000, ...wanted };
  const bytes = typeof answer === 'string' ? Buffer.from(answer) : answer;
  return Array.fromAsync(recordLinesOf(inChunks(bytes, size), new Turns(), all));
}

const textOf = (batches: readonly RecordLines[]): string =>
  Buffer.concat(batches.map(({ ndjson }) => ndjson)).toString();

function line(nanoseconds: string, log: string, pod = 'cart-0'): string {
  const time = `2026-01-01T12:00:00.${nanoseconds}Z`;
  return `${JSON.stringify({ time, namespace: 'shop', pod, container: 'cart', log })}\n`;
}

/** Characters that come elsewhere in the order of bytes, or are more than one of them in JSON. */
const ORDERED = [
  'a',
  ' ',
  '!',
  '"',
  '\\',
  '\t',
  '\n',
  '\u001f',
  'u',
  'n',
  '<',
  '0',
  '\u007f',
  'é',
  '\uffff',
  '😀',
];

/** As the store writes it. */
function written({ time, ...members }: LogRecord): string {
  const short = time.replace(/\.?0*Z$/, 'Z');
  const { namespace, pod, container, log } = members;
  const present = Object.entries({ time: short, namespace, pod, container, log }).filter(
    ([, value]) => value !== '',
  );
  const json = JSON.stringify(Object.fromEntries(present));
  return `${json.replaceAll("'", '\\u0027').replaceAll('<', '\\u003c')}\n`;
}

describe('rows of VictoriaLogs as lines of an export', () => {
  it('are handed on as they are', async () => {
    const answer = `${line('000000001', 'don\\u0027t {"a":"\\\\"}')}${line('000000002', 'Straße 😀')}`;
    const batches = await read(answer);
    expect(textOf(batches)).to.equal(answer);
    expect(batches.flatMap((batch) => [...batch]).map(({ log }) => log)).to.deep.equal([
      'don\\u0027t {"a":"\\\\"}',
      'Straße 😀',
    ]);
  });

  it('get all digits of their times, all members, and these in order', async () => {
    const short = line('5', 'one');
    const whole = '{"time":"2026-01-01T12:00:01Z","log":"two","pod":"p"}\n';
    expect(textOf(await read(`${short}${whole}`))).to.equal(
      `${line('500000000', 'one')}{"time":"2026-01-01T12:00:01.000000000Z","namespace":"","pod":"p","container":"","log":"two"}\n`,
    );
  });

  it('are UTF-8, whatever bytes a line had', async () => {
    const bytes = Buffer.concat([
      Buffer.from(line('000000001', 'ä1')),
      Buffer.from(line('000000002', 'X').replace('X', 'Ã¤'), 'latin1'),
      Buffer.from(line('000000003', 'X').replace('X', '\u00ff'), 'latin1'),
    ]);
    expect((await read(bytes)).flatMap((batch) => [...batch]).map(({ log }) => log)).to.deep.equal([
      'ä1',
      'ä',
      '\ufffd',
    ]);
  });

  it('of one time come together, in the order of pages, however the answer is cut', async () => {
    const name = fc.oneof(
      { weight: 4, arbitrary: fc.constant('a') },
      { weight: 1, arbitrary: fc.constantFrom('', 'b-1', 'b-10', 'é', '"', '\\') },
    );
    const records = fc.array(
      fc.record({
        time: fc
          .constantFrom('00.000000000', '00.120000000', '00.120000001', '09.000000000', '10.999999999')
          .map((seconds) => `2026-01-01T12:00:${seconds}Z`),
        namespace: name,
        pod: name,
        container: name,
        log: fc.oneof(
          fc.string({ unit: 'binary' }),
          fc.constantFrom('', "it's <b>", '\\"', '","log":"', 'done\n', 'done\\n', 'done\n\n', 'done'),
          fc.string({ unit: fc.constantFrom(...ORDERED), maxLength: 4 }),
        ),
      }),
      { maxLength: 40 },
    );
    await fc.assert(
      fc.asyncProperty(records, fc.integer({ min: 1, max: 700 }), fc.boolean(), async (all, size, isDesc) => {
        const order: Order = isDesc ? 'desc' : 'asc';
        const wellFormed = all.map((record) => ({ ...record, log: record.log.toWellFormed() }));
        const sign = isDesc ? -1 : 1;
        // Lines of one time in any order.
        const answer = wellFormed.toSorted((a, b) => sign * (a.time < b.time ? -1 : a.time > b.time ? 1 : 0));
        const batches = await read(answer.map(written).join(''), { order, size });
        const expected = wellFormed
          .map((record) => ({ ...record, log: record.log.replace(/\n+$/, '') }))
          .toSorted((a, b) => sign * byTime(a, b));
        const lines = textOf(batches).split('\n').slice(0, -1);
        expect(lines.map((each): unknown => JSON.parse(each))).to.deep.equal(expected);
        expect(batches.flatMap((batch) => [...batch])).to.deep.equal(expected);
        expect(batches.reduce((sum, { length }) => sum + length, 0)).to.equal(expected.length);
        const borders = batches.map((batch) => [[...batch][0]?.time, batch.until]);
        for (const [index, [begin]] of borders.entries())
          expect(begin).not.to.equal(borders[index - 1]?.[1], 'a moment in two batches');
      }),
      { numRuns: 100 },
    );
  });

  it('are looked at again only where they are not all ASCII', async () => {
    const judged: string[] = [];
    const answer = ['plain', 'Ä wanted', 'Ä other', 'plain too']
      .map((log, index) => line(`00000000${index}`, log))
      .join('');
    const isMeant = ({ log }: LogRecord): boolean => {
      judged.push(log);
      return log.includes('wanted');
    };
    const batches = await read(answer, { isMeant });
    expect(batches.flatMap((batch) => [...batch]).map(({ log }) => log)).to.deep.equal([
      'plain',
      'Ä wanted',
      'plain too',
    ]);
    expect(judged).to.deep.equal(['Ä wanted', 'Ä other']);
  });

  it('are not held without bound when they have the same time', async () => {
    const answer = line('000000001', 'x').repeat(11);
    const error = await read(answer, { maxMoment: 10, size: 100 }).catch((failure: unknown) => failure);
    expect(error).to.include({ code: 400 });
    expect(error)
      .to.have.property('message')
      .that.matches(/more than 10 lines.*ask for fewer namespaces/);
    expect(textOf(await read(answer, { maxMoment: 11, size: 100 }))).to.equal(answer);
  });

  const BROKEN: readonly (readonly [what: string, answer: string, message: RegExp])[] = [
    ['in another order', `${line('000000002', 'b')}${line('000000001', 'a')}`, /is unavailable/],
    ['without a time', '{"hello":"you"}\n', /is unavailable/],
    ['that are none', '<html></html>\n', /breaks off/],
    [
      'behind which the store says what is wrong',
      `${line('000000001', 'a')}\nremoteAddr: x; requestURI: y; it requires more than 5MB of memory\n`,
      /more than 5MB/,
    ],
  ];
  for (const [what, answer, message] of BROKEN) {
    it(`are refused ${what}`, async () => {
      for (const size of [1 << 16, 7]) {
        const error = await read(answer, { size }).catch((failure: unknown) => failure);
        expect(error).to.be.an('error').with.property('message').that.matches(message);
      }
    });
  }
});
