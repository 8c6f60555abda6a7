// Tests of exports from VictoriaLogs, against a fake VictoriaLogs.
import { expect } from 'chai';
import { Client } from '../../../../../../server/logging/backends/victorialogs/client.ts';
import {
  type ExportTuning,
  exportRecords,
} from '../../../../../../server/logging/backends/victorialogs/export.ts';
import type { Range } from '../../../../../../server/logging/backends/victorialogs/logsql.ts';
import { SelectionQuery } from '../../../../../../server/logging/backends/victorialogs/selection-query.ts';
import { instantOfNanoseconds, nanosecondsOf } from '../../../../../../server/logging/instant.ts';
import { Deadline, type Order } from '../../../../../../server/logging/log-store.ts';
import {
  type Responder,
  rows,
  ScriptedVictoriaLogs,
} from '../../../../../support/logging/scripted-victorialogs.ts';
import { FIELDS } from '../../../../../support/logging/victorialogs.ts';

const BEGIN = nanosecondsOf('2026-01-01T00:00:00.000000000Z');
const DAY = 86_400_000_000_000n;
/** 60 records in one instant, a dense second, and a sparse day. */
const TIMES = [
  ...Array.from({ length: 60 }, () => BEGIN + 3_600_000_000_007n),
  ...Array.from({ length: 4_000 }, (_, index) => BEGIN + DAY / 2n + BigInt(Math.floor(index / 2)) * 1_000n),
  ...Array.from({ length: 100 }, (_, index) => BEGIN + BigInt(index) * 864_000_000_000n),
].sort((left, right) => Number(left - right));
const RANGE: Range = { start: instantOfNanoseconds(BEGIN), end: instantOfNanoseconds(BEGIN + DAY) };
const TUNING: ExportTuning = { windowRecords: 1_000, requestMs: 5_000, retryMs: 5_000 };

interface Requested {
  readonly lines: readonly string[];
  readonly isSorted: boolean;
}

/** Counts as the store does. `respond` responds to a request for records; `index` is its number. */
function storing(respond: (requested: Requested, index: number) => Responder): Promise<ScriptedVictoriaLogs> {
  let index = 0;
  return ScriptedVictoriaLogs.start((response, request) => {
    const query = request.form.get('query') ?? '';
    const [, start = '', end = ''] =
      /_time:\[(.*),(.*)\)/.exec(request.form.get('extra_filters') ?? '') ?? [];
    const found = TIMES.filter((time) => time >= nanosecondsOf(start) && time < nanosecondsOf(end));
    if (query.includes('stats by')) {
      const [, width = '1', offset = '0'] = /_time:(\d+)ns offset (\d+)ns/.exec(query) ?? [];
      const cells = Map.groupBy(found, (time) => time - ((time - BigInt(offset)) % BigInt(width)));
      const counts = [...cells].map(([cell, { length }]) => ({
        _time: instantOfNanoseconds(cell),
        n: String(length),
      }));
      rows(...counts)(response, request);
    } else if (query.includes('stats')) {
      const [first = 0n, last = 0n] = [found[0], found.at(-1)];
      rows({ n: String(found.length), first: instantOfNanoseconds(first), last: instantOfNanoseconds(last) })(
        response,
        request,
      );
    } else {
      if (query.includes('desc')) found.reverse();
      const lines = found.map(
        (time, index) =>
          `${JSON.stringify({ _time: instantOfNanoseconds(time), _msg: `line ${index % 2}` })}\n`,
      );
      respond({ lines, isSorted: query.includes('sort by (_time') }, index++)(response, request);
    }
  });
}

const whole =
  ({ lines }: Requested): Responder =>
  (response) =>
    response.writeHead(200).end(lines.join(''));

/** Half of the records, and half of an instant. */
const half = (requested: Requested): string => requested.lines.slice(0, lengthOfHalf(requested)).join('');
const lengthOfHalf = ({ lines }: Requested): number => Math.floor(lines.length / 4) * 2 + 1;

const TIMED_OUT = "remoteAddr: x; requestURI: y; the request couldn't be executed in 5.000 seconds\n";

function exporting(url: string, order: Order, tuning: Partial<ExportTuning> = {}, range = RANGE) {
  const client = new Client({ url, now: Date.now });
  const query = new SelectionQuery({ scope: { everything: true }, range }, FIELDS);
  const deadline = new Deadline({ signal: new AbortController().signal, timeoutMs: 170_000 }, Date.now);
  return exportRecords(client, { query, range, order }, deadline, { ...TUNING, ...tuning });
}

async function timesOf(batches: ReturnType<typeof exporting>): Promise<bigint[]> {
  const times: bigint[] = [];
  for await (const batch of batches) for (const { time } of batch) times.push(nanosecondsOf(time));
  return times;
}

describe('an export from VictoriaLogs', () => {
  for (const order of ['asc', 'desc'] as const) {
    const expected = order === 'asc' ? TIMES : TIMES.toReversed();

    it(`returns each record once, in order, in windows of limited size, ${order}`, async () => {
      const sizes: number[] = [];
      await using server = await storing((requested) => {
        sizes.push(requested.lines.length);
        return whole(requested);
      });
      expect(await timesOf(exporting(server.url, order))).to.deep.equal(expected);
      expect(Math.max(...sizes)).to.be.at.most(2_000);
      expect(sizes.length).to.be.within(4, 10);
    });

    it(`continues after the last completely read time when the store ends a request early, ${order}`, async () => {
      await using server = await storing((requested, index) =>
        index % 2 === 1
          ? whole(requested)
          : (response) => {
              response.writeHead(200).write(half(requested), () => response.end(TIMED_OUT));
            },
      );
      expect(await timesOf(exporting(server.url, order))).to.deep.equal(expected);
    });
  }

  it('does not occupy the store for a slow client, and continues when the client does', async () => {
    const closed = Promise.withResolvers<void>();
    await using server = await storing((requested, index) => {
      if (index > 0) return whole(requested);
      return (response) => {
        response.on('close', closed.resolve).writeHead(200).write(half(requested));
      };
    });
    const batches = exporting(server.url, 'asc', { requestMs: 50 });
    const first = await batches.next();
    if (first.done === true) throw new Error('there are no records');
    await closed.promise;
    const times = first.value.map(({ time }) => nanosecondsOf(time));
    expect([...times, ...(await timesOf(batches))]).to.deep.equal(TIMES);
  });

  it('fails with 504 when the store hangs, and leaves no request open', async () => {
    const open = new Set<object>();
    await using server = await storing((requested, index) => (response) => {
      open.add(response);
      response.on('close', () => open.delete(response));
      if (index === 0) response.writeHead(200).end(requested.lines.join(''));
    });
    const batches = exporting(server.url, 'asc', { requestMs: 50, retryMs: 100 });
    const error = await timesOf(batches).catch((failure: unknown) => failure);
    expect(error).to.include({ code: 504 });
    while (open.size > 0) await new Promise((resolve) => setImmediate(resolve));
  });
});
