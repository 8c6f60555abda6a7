import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import pino from 'pino';
import { logData } from '../../../../../../hack/log-data/log-data.ts';
import { loadVictoriaLogs } from '../../../../../../hack/log-stores/load-victorialogs.ts';
import { startVictoriaLogs } from '../../../../../../hack/log-stores/victorialogs.ts';
import { VictoriaLogsLogStore } from '../../../../../../server/logging/backends/victorialogs/victorialogs-log-store.ts';
import { FIELDS } from '../../../../../support/victorialogs.ts';

const LINES = 40_000;

describe('VictoriaLogs with little memory', function () {
  this.timeout(120_000);
  const over = new AbortController();
  let dir = '';
  before(async () => {
    dir = await mkdtemp(join(tmpdir(), 'victorialogs-'));
  });
  after(async () => {
    over.abort();
    await rm(dir, { recursive: true, force: true });
  });

  it('sorts as many lines of an export at a time as it can, and all in the end', async () => {
    // A sort may take a fifth of it.
    const flags = ['-memory.allowedBytes=20MB'];
    await using program = await startVictoriaLogs({ dir, signal: over.signal, flags });
    const data = logData({ lines: LINES });
    await loadVictoriaLogs(program.url, data.records());

    const sort = new URLSearchParams({ query: '* | sort by (_time)' });
    const whole = await fetch(`${program.url}/select/logsql/query`, { method: 'POST', body: sort });
    expect(await whole.text()).to.match(/requires more than \d+\s?MB/);

    const store = new VictoriaLogsLogStore({
      url: program.url,
      fields: FIELDS,
      log: pino({ level: 'silent' }),
    });
    const selection = { scope: { everything: true }, range: { start: data.start, end: data.end } } as const;
    const call = { signal: over.signal, timeoutMs: 60_000 };
    const times: string[] = [];
    for await (const batch of store.export(selection, 'asc', call))
      for (const { time } of batch) times.push(time);
    expect(times).to.deep.equal(Array.from(data.records(), ({ time }) => time));
    // Which it could not do with the slices that one would like best.
    expect(await readFile(program.logFile, 'utf8')).to.match(/rename [^\n]* requires more than \d+\s?MB/);
    await store.run(AbortSignal.abort());
  });
});
