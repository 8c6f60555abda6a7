// Tests of the log files of the simulated containers.
import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { CRASH_LOOPING } from '../../../../hack/simulation/applications.ts';
import { writePodLogs } from '../../../../hack/simulation/pod-logs.ts';
import { scratchFolderEach } from '../../../support/scratch.ts';

describe('the log files of simulated containers', () => {
  const folder = scratchFolderEach();

  it('end the last run of a container that crashes with the error, at the time of the start', async () => {
    const end = Date.parse('2026-01-02T03:04:05Z');
    const logs = await writePodLogs(folder(), () => end);
    const crashing = logs.find(({ containers }) => containers.includes(CRASH_LOOPING.name));
    const lines = (await readFile(String(crashing?.previousLogsFile), 'utf8')).trimEnd().split('\n');
    expect(lines).to.have.length(CRASH_LOOPING.messages.length);
    expect(lines[0]).to.include('export started');
    expect(lines.at(-1)).to.match(/^2026-01-02T03:04:05.*level=fatal/);
  });
});
