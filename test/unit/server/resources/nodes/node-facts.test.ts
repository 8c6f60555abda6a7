// Tests of the status of nodes in the API for consoles.
import { expect } from 'chai';
import { platformStatus } from '../../../../../server/resources/nodes/node-facts.ts';

const conditions = (...pairs: readonly (readonly [string, string])[]) => ({
  conditions: pairs.map(([type, status]) => ({ type, status })),
});

describe('platformStatus', () => {
  it('is running when every known condition is healthy', () => {
    expect(platformStatus({}, conditions(['Ready', 'True'], ['MemoryPressure', 'False']))).to.equal(
      'running',
    );
    expect(platformStatus({}, {})).to.equal('running');
  });

  it('is warning when one condition is unhealthy or unknown', () => {
    for (const type of ['MemoryPressure', 'DiskPressure', 'PIDPressure', 'NetworkUnavailable']) {
      expect(platformStatus({}, conditions(['Ready', 'True'], [type, 'True'])), type).to.equal('warning');
    }
    for (const type of ['Ready', 'ConfigOK', 'KubeletReady']) {
      expect(platformStatus({}, conditions([type, 'False'])), type).to.equal('warning');
      expect(platformStatus({}, conditions([type, 'Unknown'])), type).to.equal('warning');
    }
  });

  it('ignores unknown conditions', () => {
    expect(platformStatus({}, conditions(['Ready', 'True'], ['FrequentDockerRestart', 'True']))).to.equal(
      'running',
    );
  });

  it('is unschedulable for a cordoned node with any conditions', () => {
    expect(platformStatus({ unschedulable: true }, conditions(['Ready', 'False']))).to.equal('unschedulable');
  });
});
