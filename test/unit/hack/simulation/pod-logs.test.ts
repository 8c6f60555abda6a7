// Tests of the log files of simulated containers.
import { readFile, watch } from 'node:fs/promises';
import { expect } from 'chai';
import { growPodLogs, writePodLogs } from '../../../../hack/simulation/pod-logs.ts';
import { levelMatcher } from '../../../../server/logging/matching/levels.ts';
import { scratchFolder } from '../../../support/scratch.ts';

const LINE = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{9}Z) (?:stdout|stderr) F ./;

describe('the logs of simulated pods', () => {
  it('are ordered by time, up to now, with several levels', async () => {
    await using scratch = await scratchFolder();
    const now = Date.UTC(2026, 5, 1);
    const logs = await writePodLogs(scratch.path, () => now);
    for (const { logsFile } of logs) {
      const lines = (await readFile(logsFile, 'utf8')).trimEnd().split('\n');
      const times = lines.map((line) => LINE.exec(line)?.[1] ?? 'none');
      expect(times).to.deep.equal(times.toSorted((a, b) => (a < b ? -1 : 1)));
      expect(times.at(-1)).to.equal('2026-06-01T00:00:00.000000000Z');
      const levels = (['info', 'warn', 'error', 'fatal', 'debug'] as const).filter((level) =>
        lines.some(levelMatcher([level])),
      );
      expect(levels.length).to.be.at.least(2);
    }
  });

  it('grow until aborted', async () => {
    await using scratch = await scratchFolder();
    const [first] = await writePodLogs(scratch.path);
    const file = first?.logsFile ?? '';
    const before = await readFile(file, 'utf8');
    const ending = new AbortController();
    const changes = watch(file, { signal: ending.signal });
    const grown = growPodLogs(scratch.path, { signal: ending.signal, intervalMs: 1 });
    await changes[Symbol.asyncIterator]().next();
    ending.abort();
    await grown;
    const after = await readFile(file, 'utf8');
    expect(after.startsWith(before)).to.equal(true);
    expect(after.slice(before.length).split('\n')[0]).to.match(LINE);
  });
});
