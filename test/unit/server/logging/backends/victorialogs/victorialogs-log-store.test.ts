// Tests of the VictoriaLogs log store against a fake VictoriaLogs.
import { expect } from 'chai';
import { StatusError } from '../../../../../../apis/meta/v1/errors.ts';
import { unfitOptionIn } from '../../../../../../server/logging/store/configuration-errors.ts';
import type { Selection } from '../../../../../../server/logging/store/log-store.ts';
import { call } from '../../../../../support/logging/call.ts';
import {
  type Responder,
  rows,
  ScriptedVictoriaLogs,
} from '../../../../../support/logging/scripted-victorialogs.ts';
import { storeAt } from '../../../../../support/logging/victorialogs.ts';
import { rejection } from '../../../../../support/rejection.ts';
import { untilSteady } from '../../../../../support/until.ts';

const RANGE = { start: '2026-01-01T00:00:00.000000000Z', end: '2026-01-02T00:00:00.000000000Z' };
const SELECTION: Selection = { scope: { everything: true }, range: RANGE };
const NOON = '2026-01-01T12:00:00Z';

async function statusOf(work: Promise<unknown>): Promise<StatusError> {
  const error = await rejection(work);
  if (error instanceof StatusError) return error;
  throw error;
}

/** Responds to a count, then to a request for records. */
function overviewThen(lines: Responder, count = 3): Responder {
  const overview = rows({ n: String(count), first: NOON, last: NOON });
  return (response, request) =>
    (request.form.get('query')?.includes(' stats ') === true ? overview : lines)(response, request);
}

describe('the VictoriaLogs store', () => {
  it('lets one caller occupy at most two of the four requests that a store executes at a time', async () => {
    const slots = 4;
    let executing = 0;
    let most = 0;
    await using server = await ScriptedVictoriaLogs.start((response, request) => {
      const isSlow = request.form.getAll('extra_filters').some((filter) => filter.includes('evil'));
      response.on('close', () => executing--);
      most = Math.max(most, ++executing);
      // The store queues further requests behind the slow ones.
      if (!isSlow && executing <= slots) rows({ n: '1', ids: '1', named: '0' })(response, request);
    });
    const store = storeAt(server.url);
    const countAs = (caller: string, namespace: string, signal?: AbortSignal) => {
      const scope = { everything: false, namespaces: [{ name: namespace, since: RANGE.start }] } as const;
      return store.statistics({ scope, range: RANGE }, { ...call(signal), caller });
    };
    const leaving = new AbortController();
    const slow = Array.from({ length: slots }, () => countAs('mallory', 'evil', leaving.signal));
    await untilSteady(() => executing);
    expect((await countAs('jane', 'shop')).logs.count).to.equal(1);
    expect(most).to.equal(3);
    await store.check(call());
    leaving.abort(new Error('gone'));
    await Promise.allSettled(slow);
  });

  const failing = async (respond: Responder, timeoutMs?: number): Promise<StatusError> => {
    await using server = await ScriptedVictoriaLogs.start(respond);
    return await statusOf(storeAt(server.url).statistics(SELECTION, call(undefined, timeoutMs)));
  };

  it('names the configuration section of rejected credentials', async () => {
    const error = await failing((response) => response.writeHead(401).end('unauthorized'));
    expect(unfitOptionIn(error)?.option).to.equal('logging.victorialogs');
  });

  it('returns 503 for an endless response', async () => {
    for (const status of [200, 502]) {
      const error = await failing((response) => {
        response.writeHead(status);
        const rowsOfCounts = Buffer.from('{"n":"1"}\n'.repeat(100_000));
        const more = (): boolean => response.destroyed || response.write(rowsOfCounts, more);
        more();
      });
      expect(error.code, String(status)).to.equal(503);
    }
  });

  it('returns 503 for times that are none, or that cannot be those of a first and a last record', async () => {
    const page = { order: 'asc', size: 10, from: 0 } as const;
    for (const overview of [
      { first: '2026-99-99T99:99:99.999999999Z' },
      { last: '2026-99-99T99:99:99.999999999Z' },
      { first: '2026-01-01T12:00:01Z' },
      { first: '9999-12-31T23:59:59.999999999Z' },
      { last: '1969-12-31T23:59:59Z' },
    ]) {
      await using server = await ScriptedVictoriaLogs.start(
        rows({ n: '3', first: NOON, last: NOON, ...overview }),
      );
      const error = await statusOf(storeAt(server.url).query(SELECTION, page, call()));
      expect(error.code, JSON.stringify(overview)).to.equal(503);
    }
  });

  it('reports a configured field that no record has', async () => {
    const lacking =
      (...lacks: readonly string[]): Responder =>
      (response, request) => {
        const query = request.form.get('query') ?? '';
        rows({ n: lacks.some((lack) => query.includes(lack)) ? '0' : '1' })(response, request);
      };
    for (const [respond, reason] of [
      [lacking('"kubernetes.pod_name":*'), 'kubernetes.pod_name'],
      [lacking('"_msg":*'), '_msg (set the parameter _msg_field at the collector)'],
      [lacking(), undefined],
      // No records in the last hour, or each field in records of its own.
      [lacking('"', '* |'), undefined],
      [lacking('" "', ':* "'), undefined],
    ] as const) {
      await using server = await ScriptedVictoriaLogs.start(respond);
      const error: unknown = await storeAt(server.url)
        .check(call())
        .catch((caught: unknown) => caught);
      if (reason === undefined) expect(error).to.equal(undefined);
      else {
        expect(unfitOptionIn(error)?.option).to.equal('logging.victorialogs.fields');
        expect(unfitOptionIn(error)?.reason).to.include(`has the field ${reason}`);
      }
    }
  });

  it('is healthy when it responds, although the search for fields times out', async () => {
    await using server = await ScriptedVictoriaLogs.start((response, request) => {
      if (request.form.get('extra_filters') === '_time:1s') rows({ n: '0' })(response, request);
    });
    await storeAt(server.url).check(call(undefined, 400));
  });

  it('returns 504 when the store reports a timeout or does not respond, and shows its message in the log only', async () => {
    const prefix = `remoteAddr: x; requestURI: ${'y; '.repeat(20_000)}; `;
    for (const text of [
      "the request couldn't be executed in 1.000 seconds",
      "couldn't start executing the request in 2.000 seconds, since -search.maxConcurrentRequests=2",
    ]) {
      const error = await failing((response) => response.writeHead(503).end(`${prefix}${text}`));
      expect(error.code).to.equal(504);
      expect(error.message).not.to.include('seconds');
      expect(error.cause).to.have.property('message').that.includes(text);
    }
    const silent = await failing(() => undefined, 100);
    expect(silent.code).to.equal(504);
  });

  it('continues between records with the same time, although earlier pages contain 34 MiB of them', async () => {
    const lines = Array.from({ length: 40 }, (_, n) => `${10 + n} ${'x'.repeat(1 << 20)}`);
    const all = rows(...lines.map((line) => ({ _time: NOON, _msg: line })));
    await using server = await ScriptedVictoriaLogs.start(overviewThen(all, 40));
    const page = { order: 'asc', size: 3, from: 0, after: '2026-01-01T12:00:00.000000000Z 34' } as const;
    const { records } = await storeAt(server.url).query(SELECTION, page, call(undefined, 110_000));
    expect(records.map(({ log }) => log.slice(0, 2))).to.deep.equal(['44', '45', '46']);
  }).timeout(120_000);

  it('limits the offset of a cursor to the number of records with its time', async () => {
    await using server = await ScriptedVictoriaLogs.start(overviewThen(rows()));
    const store = storeAt(server.url);
    const after = `${NOON.slice(0, -1)}.000000000Z`;
    for (const given of [10_000, 10_001, 999_999_999]) {
      const page = { order: 'asc', size: 10, from: 0, after: `${after} ${given}` } as const;
      await store.query(SELECTION, page, call());
    }
    const queries = server.requests.map(({ form }) => form.get('query') ?? '');
    const limits = queries.flatMap((query) => / limit (\d+)$/.exec(query)?.[1] ?? []);
    // The time has three records.
    expect(limits).to.deep.equal(['10011', '14', '14']);
  });

  it('returns a page with a partial result when the total takes too long', async () => {
    await using server = await ScriptedVictoriaLogs.start((response, request) => {
      const query = request.form.get('query') ?? '';
      const isCount = query.includes(' stats ');
      if (isCount && query.includes('slow')) response.writeHead(503).end("couldn't be executed in 1 seconds");
      else if (isCount) rows({ n: '3', first: NOON, last: NOON })(response, request);
      else rows({ _time: NOON, _msg: 'slow' })(response, request);
    });
    const text = { mode: 'phrase', texts: ['slow'], caseSensitive: true } as const;
    const page = { order: 'asc', size: 10, from: 0 } as const;
    const selection = { ...SELECTION, text };
    const { total, records, shortfalls } = await storeAt(server.url).query(selection, page, call());
    expect(total).to.deep.equal({ count: 1, relation: 'gte' });
    expect(records).to.have.length(1);
    expect(shortfalls.map(({ reason }) => reason)).to.deep.equal(['Timeout']);
  });
});
