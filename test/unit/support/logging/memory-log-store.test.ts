// Tests of the reference implementation of a log store by the conformance suite.
import { logData } from '../../../../hack/log-data/log-data.ts';
import { describeLogStore } from '../../../conformance/log-store.suite.ts';
import { MemoryLogStore } from '../../../support/logging/memory-log-store.ts';

// Proves that the conformance suite can pass, and that its requirements do not contradict each other.
describeLogStore(
  'a log store in memory',
  async () => {
    const records = [...logData({ lines: 1_500 }).records()];
    const store = new MemoryLogStore(records);
    return {
      store,
      records,
      precision: 'ns',
      write: async (more) => store.write(more),
      stop: async () => {},
    };
  },
  { runs: 10 },
);
