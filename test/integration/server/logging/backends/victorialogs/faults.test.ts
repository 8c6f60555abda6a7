// Tests of the VictoriaLogs log store against a real VictoriaLogs behind a faulty proxy.
import { logData } from '../../../../../../hack/log-data/log-data.ts';
import { loadVictoriaLogs } from '../../../../../../hack/log-stores/load-victorialogs.ts';
import { describeLogStoreFaults } from '../../../../../conformance/log-store/faults.ts';
import { FaultyProxy } from '../../../../../support/cluster/faulty-proxy.ts';
import { storeAt } from '../../../../../support/logging/victorialogs.ts';
import { startedProgram } from './started-program.ts';

describeLogStoreFaults('VictoriaLogs', async () => {
  const program = await startedProgram();
  const records = [...logData({ lines: 2_000 }).records()];
  await loadVictoriaLogs(program.url, records);
  const proxy = await FaultyProxy.start(program.url);
  const store = storeAt(proxy.url);
  return {
    store,
    proxy,
    records,
    write: async (more) => {
      await loadVictoriaLogs(program.url, more);
    },
    stop: async () => {
      await store.run(AbortSignal.abort());
      await proxy.stop();
      await program.stop();
    },
  };
});
