// The server of the tests of changed kinds, live lists, limits and outages, with its cluster.
import { shareEnvironment } from '../../../support/shared-environment.ts';
import { ResourceCluster } from './resource-cluster.ts';

/** The maximum wait for a first list, in ms. */
const SYNC_MS = 3_000;

export const sharedServer = shareEnvironment(async () => {
  const cluster = await ResourceCluster.start({ controllers: true });
  const callerIndependent = ['late', 'silent', 'unreachable'].map((name) => `*.${name}.example.org`);
  const limits = { syncTimeout: SYNC_MS, memoryBudget: 1 << 30 };
  const server = await cluster.serve({ resources: { callerIndependent } }, limits);
  return { cluster, server, stop: () => cluster.stop() };
});
