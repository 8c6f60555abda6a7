import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import pino from 'pino';
import { StatusError } from '../../../../../../apis/meta/v1/errors.ts';
import {
  VictoriaLogsLogStore,
  type VictoriaLogsOptions,
} from '../../../../../../server/logging/backends/victorialogs/victorialogs-log-store.ts';
import { unfitOptionIn } from '../../../../../../server/logging/configuration-errors.ts';
import type { Call, LogRecord, Selection } from '../../../../../../server/logging/log-store.ts';
import { bucketsOf } from '../../../../../../server/logging/queries/buckets.ts';
import {
  type Answer,
  rows,
  ScriptedVictoriaLogs,
} from '../../../../../support/logging/scripted-victorialogs.ts';
import { FIELDS } from '../../../../../support/logging/victorialogs.ts';
import { until } from '../../../../../support/until.ts';

const RANGE = { start: '2026-01-01T00:00:00.000000000Z', end: '2026-01-02T00:00:00.000000000Z' };
const SELECTION: Selection = { scope: { everything: true }, range: RANGE };
const NOON = '2026-01-01T12:00:00Z';

function newStore(url: string, options: Partial<VictoriaLogsOptions> = {}): VictoriaLogsLogStore {
  return new VictoriaLogsLogStore({ url, fields: FIELDS, log: pino({ level: 'silent' }), ...options });
}

function call(timeoutMs = 30_000, signal = new AbortController().signal): Call {
  return { signal, timeoutMs };
}

async function statusOf(work: Promise<unknown>): Promise<StatusError> {
  const error: unknown = await work.then(
    () => undefined,
    (failure: unknown) => failure,
  );
  if (!(error instanceof StatusError)) throw new Error(`no StatusError: ${String(error)}`);
  return error;
}

/** What the store answers to a count, then to a question for lines. */
function overviewThen(lines: Answer): Answer {
  const overview = rows({ n: '3', first: NOON, last: NOON, unsure: '0' });
  return (response, asked) =>
    (asked.form.get('query')?.includes(' stats ') === true ? overview : lines)(response, asked);
}

describe('the VictoriaLogs store', () => {
  const failing = async (answer: Answer, timeoutMs?: number): Promise<StatusError> => {
    await using server = await ScriptedVictoriaLogs.start(answer);
    return await statusOf(newStore(server.url).statistics(SELECTION, call(timeoutMs)));
  };

  it('is unavailable when it refuses us, without saying why to the caller', async () => {
    for (const status of [400, 401, 403, 404, 500, 502]) {
      const error = await failing((response) => response.writeHead(status).end('secret words'));
      expect(error.code, String(status)).to.equal(503);
      expect(error.message).not.to.contain('secret');
    }
  });

  it('names the section with the credentials where those are refused', async () => {
    const error = await failing((response) => response.writeHead(401).end('who are you?'));
    expect(unfitOptionIn(error)?.option).to.equal('logging.victorialogs');
  });

  it('is unavailable when what it answers is nonsense', async () => {
    const answers = ['<html></html>\n', '{"n":\n', '[1,2]\n', '17\n', '{"n":"many"}\n', '{"n":"1"', 'null\n'];
    for (const text of answers) {
      const error = await failing((response) => response.writeHead(200).end(text));
      expect(error.code, text).to.equal(503);
    }
  });

  it('is unavailable when what it says has no end', async () => {
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

  it('names the field that no line has, where there are lines', async () => {
    const lacking =
      (...lacks: readonly string[]): Answer =>
      (response, asked) => {
        const query = asked.form.get('query') ?? '';
        rows({ n: lacks.some((lack) => query.includes(lack)) ? '0' : '1' })(response, asked);
      };
    for (const [answer, option] of [
      [lacking('"kubernetes.pod_name":*'), 'logging.victorialogs.fields'],
      [lacking(), undefined],
      // Nothing was written in the last hour, or each field is in lines of its own.
      [lacking('"', '* |'), undefined],
      [lacking('" "', ':* "'), undefined],
    ] as const) {
      await using server = await ScriptedVictoriaLogs.start(answer);
      const error: unknown = await newStore(server.url)
        .check(call())
        .catch((caught: unknown) => caught);
      expect(unfitOptionIn(error)?.option).to.equal(option);
      if (option === undefined) expect(error).to.equal(undefined);
      else expect(unfitOptionIn(error)?.reason).to.include('kubernetes.pod_name');
    }
  });

  it('is well when it answers, although looking for fields takes it too long', async () => {
    await using server = await ScriptedVictoriaLogs.start((response, asked) => {
      if (asked.form.get('extra_filters') === '_time:1s') rows({ n: '0' })(response, asked);
    });
    await newStore(server.url).check(call(400));
  });

  it('is unavailable when nobody listens', async () => {
    const server = await ScriptedVictoriaLogs.start(() => undefined);
    const { url } = server;
    await server[Symbol.asyncDispose]();
    expect((await statusOf(newStore(url).check(call()))).code).to.equal(503);
  });

  it('takes too long when it says so, or says nothing', async () => {
    const spoken = await failing((response) =>
      response
        .writeHead(503)
        .end(
          `remoteAddr: x; requestURI: ${'y; '.repeat(20_000)}; the request couldn't be executed in 1.000 seconds`,
        ),
    );
    expect(spoken.code).to.equal(504);
    expect(spoken.cause).to.have.property('message').that.includes("couldn't be executed in 1.000 seconds");
    const silent = await failing(() => undefined, 100);
    expect(silent.code).to.equal(504);
  });

  it('is told apart from a slow one when it answers nothing at all', async () => {
    const refusalAfter = async (
      ms: number,
      meanwhile?: (store: VictoriaLogsLogStore) => Promise<unknown>,
    ) => {
      let clock = 0;
      let asked = 0;
      await using silent = await ScriptedVictoriaLogs.start((response, request) => {
        if (++asked > 1) rows({ n: '0' })(response, request);
        else clock = ms;
      });
      const store = newStore(silent.url, { now: () => clock });
      const late = statusOf(store.statistics(SELECTION, call(300)));
      await until(() => asked === 1);
      await meanwhile?.(store);
      return await late;
    };
    const slow = /took too long; use a shorter range/;
    const frozen = await refusalAfter(21_000);
    expect(frozen).to.include({ code: 504 });
    expect(frozen.message).to.match(
      /^the log store victorialogs has answered nothing at all for 21 s; try again/,
    );
    // Nobody else has asked since; it may be at work on this one question.
    expect((await refusalAfter(19_000)).message).to.match(slow);
    expect((await refusalAfter(21_000, (store) => store.check(call()))).message).to.match(slow);
  });

  it('has the time that it was given, however the clock is set meanwhile', async () => {
    const clock = Date.now;
    let jumped = 0;
    Date.now = () => clock() + jumped;
    await using server = await ScriptedVictoriaLogs.start((response, asked) => {
      jumped = 3_600_000;
      const isCount = asked.form.get('query')?.includes('stats') === true;
      rows(isCount ? { n: '1', first: NOON, last: NOON } : { _time: NOON, _msg: 'one' })(response, asked);
    });
    try {
      await newStore(server.url).query(SELECTION, { order: 'asc', size: 10, from: 0 }, call());
    } finally {
      Date.now = clock;
    }
    const times = server.asked.map(({ form }) => Number.parseInt(form.get('timeout') ?? '', 10));
    expect(times.length).to.be.above(1);
    expect(Math.min(...times)).to.be.above(10_000);
  });

  it('leaves to the log, not to the caller, which of its limits it has reached', async () => {
    const busy =
      "couldn't start executing the request in 2.000 seconds, since -search.maxConcurrentRequests=2";
    const { code, message, cause } = await failing((response) => response.writeHead(503).end(busy));
    expect(code).to.equal(504);
    expect(message).not.to.include('maxConcurrentRequests');
    expect(cause).to.have.property('message').that.includes(busy);
  });

  it('never takes an answer that breaks off for a whole one', async () => {
    const line = `${JSON.stringify({ _time: NOON, _msg: 'one' })}\n`;
    const breaking: readonly Answer[] = [
      (response) => {
        response.writeHead(200);
        response.write(line, () => response.destroy());
      },
      (response) => response.writeHead(200).end(`${line}{"_time":"${NOON}","_msg":"tw`),
      (response) =>
        response
          .writeHead(200)
          .end(`${line}\nremoteAddr: x; requestURI: y; it requires more than 5MB of memory\n`),
      (response) => response.writeHead(200, { 'Content-Length': '1000' }).end(line, () => response.destroy()),
    ];
    for (const [index, lines] of breaking.entries()) {
      await using server = await ScriptedVictoriaLogs.start(overviewThen(lines));
      const store = newStore(server.url);
      const page = { order: 'asc', size: 10, from: 0 } as const;
      expect((await statusOf(store.query(SELECTION, page, call()))).code, String(index)).to.be.oneOf([
        400, 503,
      ]);
    }
  });

  it('goes on among the lines of one time, however much of them was given', async () => {
    const lines = Array.from({ length: 40 }, (_, n) => `${10 + n} ${'x'.repeat(1 << 20)}`);
    const overview = rows({ n: '40', first: NOON, last: NOON, unsure: '0' });
    const all = rows(...lines.map((line) => ({ _time: NOON, _msg: line })));
    await using server = await ScriptedVictoriaLogs.start((response, asked) =>
      (asked.form.get('query')?.includes(' stats ') === true ? overview : all)(response, asked),
    );
    const page = { order: 'asc', size: 3, from: 0, after: '2026-01-01T12:00:00.000000000Z 34' } as const;
    const { records } = await newStore(server.url).query(SELECTION, page, call(110_000));
    expect(records.map(({ log }) => log.slice(0, 2))).to.deep.equal(['44', '45', '46']);
  }).timeout(120_000);

  it('fetches no more lines for a position than there are of its time', async () => {
    await using server = await ScriptedVictoriaLogs.start(overviewThen(rows()));
    const store = newStore(server.url);
    const after = `${NOON.slice(0, -1)}.000000000Z`;
    for (const given of [10_000, 10_001, 999_999_999]) {
      const page = { order: 'asc', size: 10, from: 0, after: `${after} ${given}` } as const;
      await store.query(SELECTION, page, call());
    }
    const limits = server.asked.flatMap(
      ({ form }) => / limit (\d+)$/.exec(form.get('query') ?? '')?.[1] ?? [],
    );
    // Of the three that are there.
    expect(limits).to.deep.equal(['10011', '14', '14']);
  });

  it('goes on behind lines that are not wanted and came when they had been counted', async () => {
    const newest = ['страница', 'страница', 'стр', 'стр', 'стр'].map((_msg, index) => ({
      _time: `2026-01-01T12:00:0${9 - index}Z`,
      _msg,
    }));
    await using server = await ScriptedVictoriaLogs.start((response, asked) => {
      const query = asked.form.get('query') ?? '';
      const limit = Number(/ limit (\d+)$/.exec(query)?.[1] ?? 0);
      if (query.includes(' stats '))
        rows({ n: '3', unsure: '0', first: newest[4]?._time, last: newest[0]?._time })(response, asked);
      else rows(...newest.slice(0, limit))(response, asked);
    });
    const selection: Selection = {
      ...SELECTION,
      text: { mode: 'phrase', texts: ['стр'], caseSensitive: false },
    };
    const page = await newStore(server.url).query(selection, { order: 'desc', size: 2, from: 0 }, call());
    expect(page.records.map(({ time }) => time.slice(11, 19))).to.deep.equal(['12:00:07', '12:00:06']);
    expect(page.next).to.equal('2026-01-01T12:00:06.000000000Z 1');
  });

  it('counts the weeks of decades in hours, in one look at the lines', async () => {
    const [start, end] = [Date.parse('1990-01-01T00:00:00Z'), Date.parse(RANGE.end)];
    const range = { start: '1990-01-01T00:00:00.000000000Z', end: RANGE.end };
    await using server = await ScriptedVictoriaLogs.start(rows({ _time: NOON, n: '3' }));
    const buckets = bucketsOf({ interval: '1w', timeZone: 'Europe/Berlin', start, end, limit: 2_000 });
    const { total } = await newStore(server.url).histogram({ ...SELECTION, range }, buckets, call());
    expect(total.count).to.equal(3);
    expect(server.asked.map(({ form }) => form.get('query'))).to.deep.equal([
      '* | stats by (_time:3600000ms offset 0ms) count() as n',
    ]);
  });

  it('repeats a request when an idle connection was closed meanwhile', async () => {
    let requests = 0;
    await using server = await ScriptedVictoriaLogs.start((response, asked) => {
      requests++;
      if (requests === 2) response.socket?.resetAndDestroy();
      else rows({ n: '1', told: '1', ids: '1' })(response, asked);
    });
    const store = newStore(server.url);
    await store.statistics(SELECTION, call());
    const { logs } = await store.statistics(SELECTION, call());
    expect(logs.count).to.equal(1);
    expect(requests).to.equal(3);
  });

  it('asks one question after the other on one connection', async () => {
    const sockets = new Set<unknown>();
    await using server = await ScriptedVictoriaLogs.start((response, asked) => {
      sockets.add(response.socket);
      rows({ n: '1', told: '1', ids: '1' })(response, asked);
    });
    const store = newStore(server.url);
    for (let times = 0; times < 3; times++) await store.statistics(SELECTION, call());
    expect(sockets.size).to.equal(1);
  });

  it('closes the connection when the caller goes', async () => {
    let closed: () => void = () => undefined;
    const gone = new Promise<void>((resolve) => {
      closed = resolve;
    });
    const leaving = new AbortController();
    await using server = await ScriptedVictoriaLogs.start((response) => {
      response.on('close', closed);
      leaving.abort();
    });
    await statusOf(newStore(server.url).statistics(SELECTION, call(30_000, leaving.signal)));
    await gone;
  });

  it('sends the caller’s scope and the time beside the query', async () => {
    await using server = await ScriptedVictoriaLogs.start(rows({ n: '0', told: '0', ids: '0' }));
    const scope = { everything: false, namespaces: [{ name: 'a', since: RANGE.start }] } as const;
    await newStore(server.url).statistics({ ...SELECTION, scope, pods: { exact: ['*'] } }, call(20_000));
    const [asked] = server.asked;
    expect(asked?.form.getAll('extra_filters')).to.deep.equal([
      `_time:[${RANGE.start},${RANGE.end})`,
      '"kubernetes.namespace_name":="a"',
    ]);
    expect(asked?.form.get('query')).to.match(/^"kubernetes\.pod_name":="\*" \| stats /);
    expect(asked?.form.get('timeout')).to.match(/^(?:1\d{4}|20000)ms$/);
    expect(asked?.headers['accept-encoding']).to.equal('identity');
  });

  it('asks nothing when nothing can be found', async () => {
    await using server = await ScriptedVictoriaLogs.start(() => undefined);
    const store = newStore(server.url);
    const nothing: readonly Partial<Selection>[] = [
      { scope: { everything: false, namespaces: [] } },
      { scope: { everything: false, namespaces: [{ name: 'a', since: RANGE.end }] } },
      { pods: { exact: [] } },
      { containers: { contains: [] } },
      { levels: [] },
      { range: { start: RANGE.end, end: RANGE.end } },
    ];
    for (const part of nothing) {
      const { logs } = await store.statistics({ ...SELECTION, ...part }, call());
      expect(logs, JSON.stringify(part)).to.deep.equal({ count: 0, relation: 'eq' });
    }
    expect(server.asked).to.deep.equal([]);
  });

  it('refuses a cursor that is not its own', async () => {
    const store = newStore('http://127.0.0.1:1');
    for (const after of [
      '',
      'x',
      RANGE.start,
      `${RANGE.start} 0`,
      `${RANGE.start} 1 1`,
      `${RANGE.start} -1`,
      // What the store cannot read, and would be called ill for.
      '0000-01-01T00:00:00.000000000Z 20000',
      '9999-12-31T23:59:59.999999999Z 20000',
    ]) {
      const page = { order: 'asc', size: 1, from: 0, after } as const;
      expect((await statusOf(store.query(SELECTION, page, call()))).code, after).to.equal(400);
    }
  });

  it('heals when the store was away while lines are followed', async () => {
    let requests = 0;
    const line = { _time: NOON, _msg: 'here', 'kubernetes.pod_name': 'p' };
    await using server = await ScriptedVictoriaLogs.start((response, asked) => {
      requests++;
      if (requests === 2 || requests === 3) response.writeHead(500).end();
      else if (asked.form.get('query')?.includes('stats') === true)
        rows(...(requests === 1 ? [] : [{ _time: NOON, n: '1' }]))(response, asked);
      else rows(line)(response, asked);
    });
    const leaving = new AbortController();
    const now = () => Date.parse(RANGE.start) + 1_000;
    const lines = newStore(server.url, { wallClock: now }).follow(SELECTION, { signal: leaving.signal });
    const { value } = await lines.next();
    expect((value as readonly LogRecord[]).map(({ log }) => log)).to.deep.equal(['here']);
    leaving.abort();
    expect((await lines.next()).done).to.equal(true);
  });

  it('gives each question about new lines its time, however slow who follows them is', async () => {
    const times = ['2026-01-01T00:00:01Z', '2026-01-01T00:00:03Z'];
    await using server = await ScriptedVictoriaLogs.start((response, asked) => {
      if (asked.form.get('query')?.includes('stats') === true)
        rows(...times.map((_time) => ({ _time, n: '1' })))(response, asked);
      else rows({ _time: times[server.asked.length - 2], _msg: 'here' })(response, asked);
    });
    let now = Date.parse(RANGE.start) + 5_000;
    const leaving = new AbortController();
    const clocks = { now: () => now, wallClock: () => now };
    const lines = newStore(server.url, clocks).follow(SELECTION, { signal: leaving.signal });
    for (const time of times) {
      const { value } = await lines.next();
      expect((value as readonly LogRecord[]).map((record) => record.time.slice(0, 19))).to.deep.equal([
        time.slice(0, 19),
      ]);
      now += 40_000;
    }
    expect(server.asked.map(({ form }) => form.get('timeout'))).to.deep.equal(
      times.map(() => '30000ms').concat('30000ms'),
    );
    leaving.abort();
    expect((await lines.next()).done).to.equal(true);
  });
});

describe('what the VictoriaLogs store shows of us', () => {
  let dir = '';
  before(async () => {
    dir = await mkdtemp(join(tmpdir(), 'victorialogs-'));
  });
  after(() => rm(dir, { recursive: true, force: true }));

  const file = async (name: string, text: string): Promise<string> => {
    const path = join(dir, name);
    await writeFile(path, text);
    return path;
  };

  it('is user and password, or a token, out of files that are read anew when they change', async () => {
    await using server = await ScriptedVictoriaLogs.start(rows({ n: '1' }));
    let now = 0;
    const passwordFile = await file('password', 'first\n');
    const bearerTokenFile = await file('token', 'abc\n');
    const clock = { now: () => now };
    const basic = newStore(server.url, { username: 'me', passwordFile, ...clock });
    await basic.check(call());
    await writeFile(passwordFile, 'second one\n');
    now += 2_000;
    await basic.check(call());
    await newStore(server.url, { bearerTokenFile }).check(call());
    const shown = server.asked.map(({ headers }) => headers.authorization);
    const pair = (password: string) => `Basic ${Buffer.from(`me:${password}`).toString('base64')}`;
    expect(shown).to.deep.equal([pair('first'), pair('second one'), 'Bearer abc']);
  });

  it('is the tenant, when one is set', async () => {
    await using server = await ScriptedVictoriaLogs.start(rows({ n: '1' }));
    await newStore(server.url, { accountID: 12, projectID: 34 }).check(call());
    await newStore(server.url).check(call());
    expect(server.asked.map(({ headers }) => [headers['accountid'], headers['projectid']])).to.deep.equal([
      ['12', '34'],
      [undefined, undefined],
    ]);
  });

  it('goes below the path of its address', async () => {
    await using server = await ScriptedVictoriaLogs.start(rows({ n: '1' }));
    for (const path of ['', '/', '/logs', '/my%20logs/'])
      await newStore(`${server.url}${path}`).check(call());
    const below = ['', '', '/logs', '/my%20logs'];
    expect(server.asked.map(({ path }) => path)).to.deep.equal(
      below.map((path) => `${path}/select/logsql/query`),
    );
  });

  it('is nothing when a file is missing', async () => {
    await using server = await ScriptedVictoriaLogs.start(rows({ n: '0' }));
    const store = newStore(server.url, { bearerTokenFile: join(dir, 'none') });
    expect((await statusOf(store.check(call()))).code).to.equal(503);
    expect(server.asked).to.deep.equal([]);
  });
});
