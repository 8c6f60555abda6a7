// Tests of exports from VictoriaLogs, against a fake VictoriaLogs.
import { expect } from 'chai';
import {
  type ExportTuning,
  exportRecords,
} from '../../../../../../server/logging/backends/victorialogs/export.ts';
import type { Range } from '../../../../../../server/logging/backends/victorialogs/logsql.ts';
import { Client } from '../../../../../../server/logging/backends/victorialogs/query-client.ts';
import { SelectionQuery } from '../../../../../../server/logging/backends/victorialogs/selection-query.ts';
import { instantOfNanoseconds, nanosecondsOf } from '../../../../../../server/logging/store/instant.ts';
import { Deadline, type Order } from '../../../../../../server/logging/store/log-store.ts';
import { call } from '../../../../../support/logging/call.ts';
import {
  type Responder,
  rows,
  ScriptedVictoriaLogs,
} from '../../../../../support/logging/scripted-victorialogs.ts';
import { FIELDS } from '../../../../../support/logging/victorialogs.ts';
import { rejection } from '../../../../../support/rejection.ts';

const BEGIN = nanosecondsOf('2026-01-01T00:00:00.000000000Z');
const DAY = 86_400_000_000_000n;
/** 60 records in one instant, a dense second, and a sparse day. */
const TIMES = [
  ...Array.from({ length: 60 }, () => BEGIN + 3_600_000_000_007n),
  ...Array.from({ length: 4_000 }, (_, index) => BEGIN + DAY / 2n + BigInt(Math.floor(index / 2)) * 1_000n),
  ...Array.from({ length: 100 }, (_, index) => BEGIN + BigInt(index) * 864_000_000_000n),
].sort((left, right) => Number(left - right));
const RANGE: Range = { start: instantOfNanoseconds(BEGIN), end: instantOfNanoseconds(BEGIN + DAY) };
const TUNING: ExportTuning = {
  windowRecords: 1_000,
  requestMs: 5_000,
  retryMs: 5_000,
  instantRecords: Number.POSITIVE_INFINITY,
  instantLength: Number.POSITIVE_INFINITY,
};

/** Counts as the store does. `respond` responds to a request for records; `index` is its number. */
function storing(
  respond: (lines: readonly string[], index: number) => Responder,
): Promise<ScriptedVictoriaLogs> {
  let index = 0;
  return ScriptedVictoriaLogs.start((response, request) => {
    const query = request.form.get('query') ?? '';
    const [, start = '', end = ''] =
      /_time:\[(.*),(.*)\)/.exec(request.form.get('extra_filters') ?? '') ?? [];
    const found = TIMES.filter((time) => time >= nanosecondsOf(start) && time < nanosecondsOf(end));
    if (query.includes('stats by')) {
      const [, width = '1', offset = '0'] = /_time:(\d+)ns offset (\d+)ns/.exec(query) ?? [];
      const cells = Map.groupBy(found, (time) => time - ((time - BigInt(offset)) % BigInt(width)));
      const counts = Array.from(cells, ([cell, { length }]) => ({
        _time: instantOfNanoseconds(cell),
        n: String(length),
      }));
      rows(...counts)(response, request);
    } else if (query.includes('stats')) {
      const [first, last] = [found[0], found.at(-1)].map((time = 0n) => instantOfNanoseconds(time));
      rows({ n: String(found.length), first, last })(response, request);
    } else {
      if (query.includes('desc')) found.reverse();
      const lines = found.map(
        (time, n) => `${JSON.stringify({ _time: instantOfNanoseconds(time), _msg: `line ${n % 2}` })}\n`,
      );
      respond(lines, index++)(response, request);
    }
  });
}

const whole =
  (lines: readonly string[]): Responder =>
  (response) =>
    response.writeHead(200).end(lines.join(''));

/** Half of the records, and half of an instant. */
const half = (lines: readonly string[]): string =>
  lines.slice(0, Math.floor(lines.length / 4) * 2 + 1).join('');

const TIMED_OUT = "remoteAddr: x; requestURI: y; the request couldn't be executed in 5.000 seconds\n";

function exporting(url: string, order: Order, tuning: Partial<ExportTuning> = {}) {
  const client = new Client({ url, now: Date.now });
  const query = new SelectionQuery({ scope: { everything: true }, range: RANGE }, FIELDS);
  const deadline = new Deadline(call(), Date.now);
  return exportRecords(client, { query, range: RANGE, order }, deadline, { ...TUNING, ...tuning });
}

async function timesOf(batches: ReturnType<typeof exporting>): Promise<bigint[]> {
  const times: bigint[] = [];
  for await (const batch of batches) for (const { time } of batch) times.push(nanosecondsOf(time));
  return times;
}

describe('an export from VictoriaLogs', () => {
  for (const order of ['asc', 'desc'] as const) {
    it(`continues after the last completely read time when the store ends a request early, ${order}`, async () => {
      await using server = await storing((lines, index) =>
        index % 2 === 1
          ? whole(lines)
          : (response) => response.writeHead(200).write(half(lines), () => response.end(TIMED_OUT)),
      );
      const expected = order === 'asc' ? TIMES : TIMES.toReversed();
      expect(await timesOf(exporting(server.url, order))).to.deep.equal(expected);
    });
  }

  it('does not occupy the store for a slow client, and continues when the client does', async () => {
    const closed = Promise.withResolvers<void>();
    await using server = await storing((lines, index) =>
      index > 0
        ? whole(lines)
        : (response) => response.on('close', closed.resolve).writeHead(200).write(half(lines)),
    );
    const batches = exporting(server.url, 'asc', { requestMs: 50 });
    const first = await batches.next();
    if (first.done === true) throw new Error('there are no records');
    await closed.promise;
    const times = first.value.map(({ time }) => nanosecondsOf(time));
    expect([...times, ...(await timesOf(batches))]).to.deep.equal(TIMES);
  });

  for (const [what, length, tuning] of [
    ['records', 1, { instantRecords: 1_000 }],
    ['characters', 10_000, { instantLength: 1 << 20 }],
  ] as const) {
    it(`returns 400 for too many ${what} with the same time, although more follow`, async () => {
      const time = instantOfNanoseconds(TIMES.at(-1) ?? 0n);
      const lines = `${JSON.stringify({ _time: time, _msg: 'x'.repeat(length) })}\n`.repeat(100);
      await using server = await storing(() => (response) => {
        response.writeHead(200);
        const more = (): boolean => response.destroyed || response.write(lines, more);
        more();
      });
      const error = await rejection(timesOf(exporting(server.url, 'asc', tuning)));
      expect(error).to.include({ code: 400 });
    });
  }
});
