// Tests of VictoriaLogs processes that the development tools start.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { loadVictoriaLogs } from '../../../../hack/log-stores/load-victorialogs.ts';
import type { LogStoreProcess } from '../../../../hack/log-stores/log-store.ts';
import { startVictoriaLogs } from '../../../../hack/log-stores/victorialogs.ts';
import { rejection } from '../../../support/rejection.ts';
import { untilOrphanIsGone } from './orphan.ts';
import { someRecords } from './records.ts';

const { signal } = new AbortController();

/** The rows of the response. */
async function query(store: LogStoreProcess, text: string): Promise<unknown[]> {
  const response = await fetch(
    `${store.url}/select/logsql/query?${new URLSearchParams({ query: text }).toString()}`,
  );
  const answer = await response.text();
  if (!response.ok) throw new Error(answer);
  return answer
    .split('\n')
    .filter((line) => line !== '')
    .map((line): unknown => JSON.parse(line));
}

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

  it('has every loaded line, with nanoseconds', async () => {
    expect(await loadVictoriaLogs(store.url, someRecords(2_000), { batch: 300 })).to.deep.equal({
      records: 2_000,
    });
    expect(await query(store, '* | stats count() lines, count_uniq(_stream) streams')).to.deep.equal([
      { lines: '2000', streams: '2' },
    ]);
    expect(
      await query(store, '{kubernetes.namespace_name="team-web"} "Upstream" | stats count() lines'),
    ).to.deep.equal([{ lines: '20' }]);
    const [last] = await query(
      store,
      '* | sort by (_time desc) | limit 1 | fields _time, _msg, stream, "kubernetes.labels.app.kubernetes.io/name"',
    );
    expect(last).to.deep.equal({
      _time: '2026-11-20T00:00:00.999001999Z',
      _msg: 'handled request 1999 "as ever"',
      stream: 'stdout',
      'kubernetes.labels.app.kubernetes.io/name': 'the-db',
    });
  });

  it('reports accepted lines that were dropped', async () => {
    const records = [...someRecords(3)].map((record) => ({
      ...record,
      time: '2199-01-01T00:00:00.000000000Z',
    }));
    const { message } = await rejection(loadVictoriaLogs(store.url, records));
    expect(message).to.match(/^VictoriaLogs stored 0 of 3 lines/);
  });

  it('exits when the process that started it is killed', async () => {
    await untilOrphanIsGone('victorialogs', join(dir, 'orphan'));
  });
});
