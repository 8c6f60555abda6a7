import { expect } from 'chai';
import { exportLines } from '../../../../../../../server/logging/backends/victorialogs/exporting/export.ts';
import type { SliceBounds } from '../../../../../../../server/logging/backends/victorialogs/exporting/slice-reader.ts';
import { Connection } from '../../../../../../../server/logging/backends/victorialogs/requests/connection.ts';
import {
  instantAt,
  nanosecondsOf,
} from '../../../../../../../server/logging/backends/victorialogs/requests/nanoseconds.ts';
import { Queries } from '../../../../../../../server/logging/backends/victorialogs/requests/queries.ts';
import type { Range } from '../../../../../../../server/logging/backends/victorialogs/selection/question.ts';
import { Deadline } from '../../../../../../../server/logging/deadline.ts';
import type { Order } from '../../../../../../../server/logging/log-store.ts';
import {
  type Answer,
  rows,
  ScriptedVictoriaLogs,
} from '../../../../../../support/logging/scripted-victorialogs.ts';
import { FIELDS } from '../../../../../../support/logging/victorialogs.ts';

const BEGIN = nanosecondsOf('2026-01-01T00:00:00.000000000Z');
/** Two lines a microsecond. */
const TIMES = Array.from({ length: 12_000 }, (_, index) => BEGIN + BigInt(Math.floor(index / 2)) * 1_000n);
const RANGE: Range = { start: instantAt(BEGIN), end: instantAt(BEGIN + 6_000_000n) };
const BOUNDS: SliceBounds = { sliceMs: 5_000, requestMs: 5_000 };

interface AskedLines {
  readonly lines: readonly string[];
  readonly isSorted: boolean;
}

/** Counts as the store does; `answer` says what it does with a question for lines, of which there were some before. */
function storing(answer: (asked: AskedLines, before: number) => Answer): Promise<ScriptedVictoriaLogs> {
  let questions = 0;
  return ScriptedVictoriaLogs.start((response, asked) => {
    const query = asked.form.get('query') ?? '';
    const [, start = '', end = ''] = /_time:\[(.*),(.*)\)/.exec(asked.form.get('extra_filters') ?? '') ?? [];
    const found = TIMES.filter((time) => time >= nanosecondsOf(start) && time < nanosecondsOf(end));
    if (query.includes('stats')) {
      const [, width = '1', offset = '0'] = /_time:(\d+)ns offset (\d+)ns/.exec(query) ?? [];
      const cells = Map.groupBy(found, (time) => time - ((time - BigInt(offset)) % BigInt(width)));
      const counts = [...cells].map(([cell, { length }]) => ({ _time: instantAt(cell), n: String(length) }));
      return rows(...counts)(response, asked);
    }
    if (query.includes('desc')) found.reverse();
    const lines = found.map((time, index) => {
      const named = { namespace: 'shop', pod: 'cart-0', container: 'cart', log: `line ${index % 2}` };
      return `${JSON.stringify({ time: instantAt(time), ...named })}\n`;
    });
    answer({ lines, isSorted: query.includes('sort by (_time') }, questions++)(response, asked);
  });
}

const whole =
  ({ lines }: AskedLines): Answer =>
  (response) =>
    response.writeHead(200).end(lines.join(''));

/** Half of the lines, and half of a moment. */
const half = ({ lines }: AskedLines): string => lines.slice(0, Math.floor(lines.length / 4) * 2 + 1).join('');

const LATER = ['01', '02']
  .map((second) => ({ time: `2026-01-01T00:00:${second}.000000000Z`, namespace: '', pod: '', log: '' }))
  .map((line) => `${JSON.stringify(line)}\n`)
  .join('');

const OUT_OF_TIME = "remoteAddr: x; requestURI: y; the request couldn't be executed in 5.000 seconds\n";
const NO_MEMORY = 'cannot calculate [sort by (_time)], since it requires more than 12MB of memory\n';

function exporting(url: string, order: Order, bounds = BOUNDS, range = RANGE) {
  const queries = new Queries(new Connection({ url, now: Date.now }));
  const question = ({ start, end }: Range) => ({ lines: '*', extraFilters: [`_time:[${start},${end})`] });
  const wanted = { question, fields: FIELDS, isMeant: undefined, order, range, count: TIMES.length };
  const deadline = new Deadline({ signal: new AbortController().signal, timeoutMs: 170_000 }, Date.now);
  return exportLines(queries, wanted, deadline, bounds);
}

async function timesOf(batches: ReturnType<typeof exporting>): Promise<bigint[]> {
  const times: bigint[] = [];
  for await (const batch of batches) for (const { time } of batch) times.push(nanosecondsOf(time));
  return times;
}

describe('an export of VictoriaLogs', () => {
  for (const order of ['asc', 'desc'] as const) {
    const expected = order === 'asc' ? TIMES : TIMES.toReversed();

    it(`has every line once, in order, in few requests, ${order}`, async () => {
      await using server = await storing(whole);
      expect(await timesOf(exporting(server.url, order))).to.deep.equal(expected);
      const questions = server.asked.filter(({ form }) => form.get('query')?.includes('sort') === true);
      expect(questions).to.have.length.within(2, 5);
    });

    it(`goes on behind the last whole moment when the store ends a request in the middle, ${order}`, async () => {
      await using server = await storing((asked, before) =>
        before % 2 === 1
          ? whole(asked)
          : (response) => response.writeHead(200).end(half(asked) + OUT_OF_TIME),
      );
      expect(await timesOf(exporting(server.url, order))).to.deep.equal(expected);
    });

    it(`asks for less at a time when the store has no memory for more, ${order}`, async () => {
      let refused = 0;
      await using server = await storing((asked) => {
        if (asked.lines.length <= 700) return whole(asked);
        refused++;
        return (response) => response.writeHead(422).end(NO_MEMORY);
      });
      expect(await timesOf(exporting(server.url, order))).to.deep.equal(expected);
      expect(refused).to.be.within(1, 20);
    });
  }

  it('does not keep the store for a reader that is slow, and goes on when it does', async () => {
    const closed = Promise.withResolvers<void>();
    await using server = await storing((asked, before) => {
      if (before > 0) return whole(asked);
      return (response) => {
        response.on('close', closed.resolve).writeHead(200).write(half(asked));
      };
    });
    const batches = exporting(server.url, 'asc', { sliceMs: 50, requestMs: 5_000 });
    const first = await batches.next();
    if (first.done === true) throw new Error('there are no lines');
    await closed.promise;
    const times = [...first.value].map(({ time }) => nanosecondsOf(time));
    expect([...times, ...(await timesOf(batches))]).to.deep.equal(TIMES);
  });

  it('has patience with a store that needs longer for its first line', async () => {
    const closed = Promise.withResolvers<void>();
    await using server = await storing((asked, before) => {
      if (before > 0) return whole(asked);
      return (response) => void response.on('close', closed.resolve);
    });
    const times = timesOf(exporting(server.url, 'asc', { sliceMs: 50, requestMs: 5_000 }));
    await closed.promise;
    expect(await times).to.deep.equal(TIMES);
  });

  it('ends when the store hangs in the middle, and leaves nothing open there', async () => {
    const open = new Set<object>();
    await using server = await storing((asked, before) => (response) => {
      open.add(response);
      response.on('close', () => open.delete(response));
      if (before === 0) response.writeHead(200).end(asked.lines.join(''));
    });
    const batches = exporting(server.url, 'asc', { sliceMs: 50, requestMs: 100 });
    const error = await timesOf(batches).catch((failure: unknown) => failure);
    expect(error).to.include({ code: 504 });
    while (open.size > 0) await new Promise((resolve) => setImmediate(resolve));
  });

  const preparing: Readonly<Record<string, Answer>> = {
    'that has not answered': () => undefined,
    'that has begun to answer': (response) => response.writeHead(200).flushHeaders(),
    'that has given lines': (response) => response.writeHead(200).write(LATER),
  };
  for (const [what, prepared] of Object.entries(preparing)) {
    it(`ends the request ${what} for the next slice too when the reader leaves`, async () => {
      const open = new Set<object>();
      const both = Promise.withResolvers<void>();
      await using server = await storing((asked, before) => (response, question) => {
        open.add(response);
        response.on('close', () => open.delete(response));
        if (before === 0) response.writeHead(200).write(half(asked));
        else prepared(response, question);
        if (before === 1) both.resolve();
      });
      const batches = exporting(server.url, 'asc');
      await batches.next();
      await both.promise;
      await batches.return();
      while (open.size > 0) await new Promise((resolve) => setImmediate(resolve));
    });
  }

  it('does not ask the store for an order within a single moment', async () => {
    const moment = { start: instantAt(BEGIN), end: instantAt(BEGIN + 1n) };
    const seen: boolean[] = [];
    await using server = await storing((asked) => {
      seen.push(asked.isSorted);
      return whole(asked);
    });
    expect(await timesOf(exporting(server.url, 'asc', BOUNDS, moment))).to.deep.equal([BEGIN, BEGIN]);
    expect(seen).to.deep.equal([false]);
  });
});
