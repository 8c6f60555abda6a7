// Tests of the consistency of reads that the gateway serves from its caches, with faults in the watches of the server.
import { expect } from 'chai';
import { runWorkload } from '../../../hack/consistency/workload.ts';
import { sharedAcceleration } from './shared-acceleration.ts';

describe('the acceleration with faults in the watches of the server', () => {
  it('is linearizable (hack/consistency, short)', async () => {
    const { gateway, watches } = await sharedAcceleration();
    const { controlPlane, server, signal } = gateway.platform;
    const { phases, violations, events } = await runWorkload({
      cluster: controlPlane.client,
      direct: controlPlane.url,
      gateway: server.url,
      ca: controlPlane.ca,
      phases: [
        { name: 'busy', operations: 1000, pauseMs: 50 },
        { name: 'faults', operations: 1000, pauseMs: 50, begin: () => watches.begin() },
      ],
      seed: 1,
      signal,
    }).finally(() => watches.end());
    expect(violations).to.deep.equal([]);
    expect(phases[0]?.tally.get('list, current')?.get('hit')).to.be.greaterThan(0);
    expect(watches.counts.delays).to.be.greaterThan(0);
    expect(events).to.be.greaterThan(0);
  });
});
