// Tests of the pod log store by the conformance suite, with a scripted cluster.
import { decodeConfiguration } from '../../../../../../apis/config/v1alpha1/decode.ts';
import { logData } from '../../../../../../hack/log-data/log-data.ts';
import { describeLogStore } from '../../../../../conformance/log-store.ts';
import { LogCluster } from './log-cluster.ts';

describeLogStore(
  'the pod logs of a scripted cluster',
  async () => {
    const records = [...logData({ lines: 1_500, namespaces: 4, workloads: 1 }).currentRecords()];
    const cluster = await new LogCluster().start();
    cluster.write(records);
    return {
      // The default limits.
      store: cluster.store(decodeConfiguration(undefined).logging.kubernetes),
      records,
      precision: 'ns',
      write: async (more) => cluster.write(more),
      stop: () => cluster.stop(),
    };
  },
  { containersBy: 'name', runs: 10, every: 8 },
);
