// Tests of exports and live tails of many lines, against a real VictoriaLogs.
import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { logData } from '../../../../../../hack/log-data/log-data.ts';
import { loadVictoriaLogs } from '../../../../../../hack/log-stores/load-victorialogs.ts';
import { call } from '../../../../../support/logging/call.ts';
import { exported } from '../../../../../support/logging/exported.ts';
import { storeAt } from '../../../../../support/logging/victorialogs.ts';
import { until } from '../../../../../support/until.ts';
import { startedProgram } from './started-program.ts';

/** Too many for one request per cell. */
const LINES = 40_000;
/** Number of recent records, one per 10 ms. */
const RECENT = 6_000;

describe('VictoriaLogs with little memory', () => {
  it('exports all records in slices that it can sort', async () => {
    // A sort may use a fifth of it.
    await using program = await startedProgram(['-memory.allowedBytes=20MB']);
    const data = logData({ lines: LINES });
    await loadVictoriaLogs(program.url, data.records());

    const sort = new URLSearchParams({ query: '* | sort by (_time)' });
    const whole = await fetch(`${program.url}/select/logsql/query`, { method: 'POST', body: sort });
    expect(await whole.text()).to.match(/requires more than \d+\s?MB/);

    const store = storeAt(program.url);
    const selection = { scope: { everything: true }, range: { start: data.start, end: data.end } } as const;
    const { records } = await exported(store.export(selection, 'asc', call()));
    expect(records.map(({ time }) => time)).to.deep.equal(Array.from(data.records(), ({ time }) => time));
    // The first slices were too large.
    const log = (): Promise<string> => readFile(program.logFile, 'utf8');
    await until(async () => /fields [^\n]* requires more than \d+\s?MB/.test(await log()));
    await store.run(AbortSignal.abort());
  });
});

describe('a live tail of VictoriaLogs with an early start', () => {
  it('returns all older records in order, then new ones, each once', async () => {
    await using program = await startedProgram();
    const data = logData({ lines: LINES });
    const sample = Array.from(data.records()).at(-1);
    if (sample === undefined) throw new Error('there are no records');
    await loadVictoriaLogs(program.url, data.records());
    // Across the border between the export and the polls.
    const now = Date.now();
    const recent = Array.from({ length: RECENT }, (_, index) => ({
      ...sample,
      time: new Date(now - (RECENT - index) * 10).toISOString(),
      log: `recent ${index}`,
    }));
    await loadVictoriaLogs(program.url, recent);

    const store = storeAt(program.url);
    const range = { start: '1970-01-01T00:00:00.000000000Z', end: data.end };
    const seen: string[] = [];
    const leaving = new AbortController();
    for await (const batch of store.follow({ scope: { everything: true }, range }, leaving)) {
      seen.push(...batch.map(({ time, log }) => `${time} ${log}`));
      if (seen.length === LINES + RECENT)
        await loadVictoriaLogs(program.url, [{ ...sample, time: new Date().toISOString(), log: 'new' }]);
      if (seen.length > LINES + RECENT) leaving.abort();
    }
    const old = Array.from(data.records(), ({ time }) => time);
    expect(seen.slice(0, LINES).map((line) => line.slice(0, 30))).to.deep.equal(old);
    expect(seen.slice(LINES).map((line) => line.slice(31))).to.deep.equal([
      ...recent.map(({ log }) => log),
      'new',
    ]);
    await store.run(AbortSignal.abort());
  });
});
