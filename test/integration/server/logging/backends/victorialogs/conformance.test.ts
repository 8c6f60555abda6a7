import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { logData } from '../../../../../../hack/log-data/log-data.ts';
import { loadVictoriaLogs } from '../../../../../../hack/log-stores/load-victorialogs.ts';
import { startVictoriaLogs } from '../../../../../../hack/log-stores/victorialogs.ts';
import { VictoriaLogsLogStore } from '../../../../../../server/logging/backends/victorialogs/victorialogs-log-store.ts';
import type { StartedLogStore } from '../../../../../conformance/log-store/harness.ts';
import { describeLongLines } from '../../../../../conformance/log-store/long-lines.ts';
import { describeLogStore } from '../../../../../conformance/log-store.ts';
import { FIELDS } from '../../../../../support/victorialogs.ts';

describeLogStore('VictoriaLogs', () => startedStore(6_000));

describeLongLines('VictoriaLogs', () => startedStore(100));

async function startedStore(lines: number): Promise<StartedLogStore> {
  const dir = await mkdtemp(join(tmpdir(), 'victorialogs-'));
  const over = new AbortController();
  const program = await startVictoriaLogs({ dir, signal: over.signal });
  const data = logData({ lines });
  await loadVictoriaLogs(program.url, data.records());
  const store = new VictoriaLogsLogStore({
    url: program.url,
    fields: FIELDS,
    log: pino({ level: 'silent' }),
  });
  const running = store.run(over.signal);
  return {
    store,
    records: data.records(),
    precision: 'ns',
    write: async (records) => {
      await loadVictoriaLogs(program.url, records);
    },
    stop: async () => {
      await program.stop();
      over.abort();
      await running;
      await rm(dir, { recursive: true, force: true });
    },
  };
}
