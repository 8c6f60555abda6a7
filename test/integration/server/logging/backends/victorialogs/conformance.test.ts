import { logData } from '../../../../../../hack/log-data/log-data.ts';
import { loadVictoriaLogs } from '../../../../../../hack/log-stores/load-victorialogs.ts';
import type { StartedLogStore } from '../../../../../conformance/log-store/harness.ts';
import { describeLongLines } from '../../../../../conformance/log-store/long-lines.ts';
import { describeLogStore } from '../../../../../conformance/log-store.ts';
import { storeAt } from '../../../../../support/logging/victorialogs.ts';
import { startedProgram } from './started-program.ts';

describeLogStore('VictoriaLogs', () => startedStore(6_000));

describeLongLines('VictoriaLogs', () => startedStore(100));

async function startedStore(lines: number): Promise<StartedLogStore> {
  const program = await startedProgram();
  const data = logData({ lines });
  await loadVictoriaLogs(program.url, data.records());
  const store = storeAt(program.url);
  return {
    store,
    records: data.records(),
    precision: 'ns',
    write: async (records) => {
      await loadVictoriaLogs(program.url, records);
    },
    stop: async () => {
      await store.run(AbortSignal.abort());
      await program.stop();
    },
  };
}
