import { logData } from '../../../../../../hack/log-data/log-data.ts';
import { loadVictoriaLogs } from '../../../../../../hack/log-stores/load-victorialogs.ts';
import { describeLogStoreFaults } from '../../../../../conformance/log-store/faults.ts';
import { FaultyFront } from '../../../../../support/faulty-front.ts';
import { storeAt } from '../../../../../support/victorialogs.ts';
import { startedProgram } from './started-program.ts';

describeLogStoreFaults('VictoriaLogs', async () => {
  const program = await startedProgram();
  const records = [...logData({ lines: 2_000 }).records()];
  await loadVictoriaLogs(program.url, records);
  const front = await FaultyFront.start(program.url);
  const store = storeAt(front.url);
  return {
    store,
    front,
    records,
    write: async (more) => {
      await loadVictoriaLogs(program.url, more);
    },
    stop: async () => {
      await store.run(AbortSignal.abort());
      await front.stop();
      await program.stop();
    },
  };
});
