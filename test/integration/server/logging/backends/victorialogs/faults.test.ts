import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { logData } from '../../../../../../hack/log-data/log-data.ts';
import { loadVictoriaLogs } from '../../../../../../hack/log-stores/load-victorialogs.ts';
import { startVictoriaLogs } from '../../../../../../hack/log-stores/victorialogs.ts';
import { VictoriaLogsLogStore } from '../../../../../../server/logging/backends/victorialogs/victorialogs-log-store.ts';
import { describeLogStoreFaults } from '../../../../../conformance/log-store/faults.ts';
import { FaultyFront } from '../../../../../support/faulty-front.ts';
import { FIELDS } from '../../../../../support/victorialogs.ts';

describeLogStoreFaults('VictoriaLogs', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'victorialogs-'));
  const over = new AbortController();
  const program = await startVictoriaLogs({ dir, signal: over.signal });
  const records = [...logData({ lines: 2_000 }).records()];
  await loadVictoriaLogs(program.url, records);
  const front = await FaultyFront.start(program.url);
  const store = new VictoriaLogsLogStore({ url: front.url, fields: FIELDS, log: pino({ level: 'silent' }) });
  const running = store.run(over.signal);
  return {
    store,
    front,
    records,
    write: async (more) => {
      await loadVictoriaLogs(program.url, more);
    },
    stop: async () => {
      over.abort();
      await running;
      await front.stop();
      await program.stop();
      await rm(dir, { recursive: true, force: true });
    },
  };
});
