// Tests of VictoriaLogs processes that the development tools start.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { logData } from '../../../../hack/log-data/log-data.ts';
import { loadVictoriaLogs } from '../../../../hack/log-stores/load-victorialogs.ts';
import type { LogStoreProcess } from '../../../../hack/log-stores/log-store.ts';
import { startVictoriaLogs } from '../../../../hack/log-stores/victorialogs.ts';
import { rejection } from '../../../support/rejection.ts';
import { untilOrphanIsGone } from './orphan.ts';

const { signal } = new AbortController();

describe('VictoriaLogs', function () {
  this.timeout(120_000);
  let dir: string;
  let store: LogStoreProcess;

  before(async function () {
    this.timeout(180_000); // includes a build, if there is none yet
    dir = await mkdtemp(join(tmpdir(), 'victorialogs-'));
    store = await startVictoriaLogs({ dir: join(dir, 'one'), signal });
  });

  after(async () => {
    await store?.stop();
    await rm(dir, { recursive: true, force: true });
  });

  it('reports accepted lines that were dropped', async () => {
    const records = [...logData({ lines: 3 }).records()].slice(0, 3).map((record) => ({
      ...record,
      time: '2199-01-01T00:00:00.000000000Z',
    }));
    const { message } = await rejection(loadVictoriaLogs(store.url, records));
    expect(message).to.match(/^VictoriaLogs stored 0 of 3 lines/);
  });

  it('exits when the process that started it is killed', async () => {
    await untilOrphanIsGone(join(dir, 'orphan'));
  });
});
