// Tests of exports from a real VictoriaLogs with little memory.
import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { logData } from '../../../../../../hack/log-data/log-data.ts';
import { loadVictoriaLogs } from '../../../../../../hack/log-stores/load-victorialogs.ts';
import { storeAt } from '../../../../../support/logging/victorialogs.ts';
import { startedProgram } from './started-program.ts';

const LINES = 40_000;

describe('VictoriaLogs with little memory', function () {
  this.timeout(120_000);

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
    const call = { signal: new AbortController().signal, timeoutMs: 60_000 };
    const times: string[] = [];
    for await (const batch of store.export(selection, 'asc', call))
      for (const { time } of batch) times.push(time);
    expect(times).to.deep.equal(Array.from(data.records(), ({ time }) => time));
    // The first slices were too large.
    expect(await readFile(program.logFile, 'utf8')).to.match(/fields [^\n]* requires more than \d+\s?MB/);
    await store.run(AbortSignal.abort());
  });
});
