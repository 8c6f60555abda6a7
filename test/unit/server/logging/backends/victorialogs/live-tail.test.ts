// Tests of live tails of VictoriaLogs, against a fake VictoriaLogs.
import { expect } from 'chai';
import { LiveTails } from '../../../../../../server/logging/backends/victorialogs/live-tail.ts';
import { Client } from '../../../../../../server/logging/backends/victorialogs/query-client.ts';
import { SelectionQuery } from '../../../../../../server/logging/backends/victorialogs/selection-query.ts';
import type { LogRecord } from '../../../../../../server/logging/store/log-store.ts';
import {
  type Responder,
  rows,
  ScriptedVictoriaLogs,
} from '../../../../../support/logging/scripted-victorialogs.ts';
import { FIELDS } from '../../../../../support/logging/victorialogs.ts';
import { rejection } from '../../../../../support/rejection.ts';

const START = '2026-01-01T00:00:00.000000000Z';
const NOW = Date.parse(START) + 1_000;
const QUERY = new SelectionQuery(
  { scope: { everything: true }, range: { start: START, end: START } },
  FIELDS,
);

type Line = Record<'_time' | '_msg', string>;

/** Counts by cells of 250 ms, and returns the lines of a range. */
function holding(lines: readonly Line[]): Responder {
  return (response, request) => {
    const [, start = '', end = ''] =
      /_time:\[(.*),(.*)\)/.exec(request.form.get('extra_filters') ?? '') ?? [];
    const found = lines.filter(({ _time }) => _time >= start && _time < end);
    if (request.form.get('query')?.includes('stats') !== true) return rows(...found)(response, request);
    const cells = Map.groupBy(found, ({ _time }) => Math.floor(Date.parse(_time) / 250) * 250);
    const counts = Array.from(cells, ([at, { length }]) => ({
      _time: new Date(at).toISOString(),
      n: `${length}`,
    }));
    rows(...counts)(response, request);
  };
}

function line(ms: number, _msg: string): Line {
  return { _time: new Date(Date.parse(START) + ms).toISOString().replace('Z', '000000Z'), _msg };
}

function liveTails(url: string, now = () => NOW): LiveTails {
  return new LiveTails({ client: new Client({ url, now }), now, wallClock: now });
}

const logsOf = ({ value }: IteratorResult<readonly LogRecord[], void>): string[] =>
  (value ?? []).map(({ log }) => log);

describe('a live tail of VictoriaLogs', () => {
  it('returns each record once: late records, equal records, and many records with the same time', async () => {
    const lines = [line(100, 'a'), line(100, 'a'), line(600, 'c')];
    await using server = await ScriptedVictoriaLogs.start((...args) => holding(lines)(...args));
    const leaving = new AbortController();
    const tail = liveTails(server.url).follow(QUERY, leaving);
    const seen = [...logsOf(await tail.next()), ...logsOf(await tail.next())];
    lines.push(line(50, 'late'), line(100, 'a'), line(600, 'd'));
    seen.push(...logsOf(await tail.next()), ...logsOf(await tail.next()));
    expect(seen).to.deep.equal(['a', 'a', 'c', 'late', 'a', 'd']);
    leaving.abort();
    expect((await tail.next()).done).to.equal(true);
  });

  it('fails at once when the store is unavailable at the start', async () => {
    await using server = await ScriptedVictoriaLogs.start((response) => response.writeHead(503).end());
    const tail = liveTails(server.url).follow(QUERY, new AbortController());
    expect(await rejection(tail.next())).to.include({ code: 503 });
  });

  it('ends at once when the store cannot process the query', async () => {
    const lines = [line(100, 'a')];
    await using server = await ScriptedVictoriaLogs.start((response, request) => {
      if (server.requests.length <= 2) holding(lines)(response, request);
      else response.writeHead(422).end('it requires more than 12MB of memory');
    });
    const tail = liveTails(server.url).follow(QUERY, new AbortController());
    expect(logsOf(await tail.next())).to.deep.equal(['a']);
    expect(await rejection(tail.next())).to.include({ code: 400 });
    expect(server.requests).to.have.length(3);
  });

  it('has a separate timeout for each request, so a slow client causes no timeout', async () => {
    let now = Date.parse(START) + 5_000;
    const lines = [line(1_000, 'a'), line(3_000, 'b')];
    await using server = await ScriptedVictoriaLogs.start(holding(lines));
    const leaving = new AbortController();
    const tail = liveTails(server.url, () => now).follow(QUERY, leaving);
    for (const log of ['a', 'b']) {
      expect(logsOf(await tail.next())).to.deep.equal([log]);
      now += 40_000;
    }
    const timeouts = server.requests.map(({ form }) => form.get('timeout'));
    expect(timeouts).to.deep.equal(['30000ms', '30000ms', '30000ms']);
    leaving.abort();
    expect((await tail.next()).done).to.equal(true);
  });
});
