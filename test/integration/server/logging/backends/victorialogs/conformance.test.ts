// Tests of the VictoriaLogs log store by the conformance suite, against a real VictoriaLogs.
import { logData } from '../../../../../../hack/log-data/log-data.ts';
import { loadVictoriaLogs } from '../../../../../../hack/log-stores/load-victorialogs.ts';
import { describeLogStoreFaults } from '../../../../../conformance/log-store/faults.suite.ts';
import type { StartedLogStore } from '../../../../../conformance/log-store/harness.ts';
import { describeLongLines } from '../../../../../conformance/log-store/long-lines.suite.ts';
import { describeOddRecords } from '../../../../../conformance/log-store/odd-records.suite.ts';
import { describeLogStore } from '../../../../../conformance/log-store.suite.ts';
import { FaultyProxy } from '../../../../../support/cluster/faulty-proxy.ts';
import { storeAt } from '../../../../../support/logging/victorialogs.ts';
import { startedProgram } from './started-program.ts';

// More than two pages. follow.test.ts has more lines than one request of a live tail reads.
describeLogStore('VictoriaLogs', () => startedStore(2_400), {
  ownWords: true,
  unsupported: ({ text }) =>
    text?.mode === 'substring' && !text.caseSensitive && text.texts.join('').length > 300,
});

describeLongLines('VictoriaLogs', () => startedStore(100));

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

for (const streams of ['kubernetes.namespace_name,kubernetes.pod_name,kubernetes.container_name', '']) {
  describeOddRecords(
    `VictoriaLogs with ${streams === '' ? 'one stream' : 'one stream per container'}`,
    async () => {
      const program = await startedProgram();
      const store = storeAt(program.url);
      const fields = new URLSearchParams({ _time_field: 'time', _msg_field: 'log', _stream_fields: streams });
      return {
        store,
        async write(documents) {
          const body = documents.map((each) => `${JSON.stringify(each)}\n`).join('');
          await fetch(`${program.url}/insert/jsonline?${String(fields)}`, { method: 'POST', body });
          await fetch(`${program.url}/internal/force_flush`);
        },
        async stop() {
          await store.run(AbortSignal.abort());
          await program.stop();
        },
      };
    },
  );
}

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
