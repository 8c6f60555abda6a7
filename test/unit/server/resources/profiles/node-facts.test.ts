// Tests of the status of nodes in the API for consoles.
import { expect } from 'chai';
import { platformStatus } from '../../../../../server/resources/profiles/node-facts.ts';

const UNHEALTHY = [
  ...['MemoryPressure', 'DiskPressure', 'PIDPressure', 'NetworkUnavailable'].map((type) => [type, 'True']),
  ...['Ready', 'ConfigOK', 'KubeletReady'].flatMap((type) => [
    [type, 'False'],
    [type, 'Unknown'],
  ]),
];

describe('platformStatus', () => {
  for (const [status, spec, conditions] of [
    [
      'running',
      {},
      [
        ['Ready', 'True'],
        ['MemoryPressure', 'False'],
      ],
    ],
    ['running', {}, undefined],
    [
      'running',
      {},
      [
        ['Ready', 'True'],
        ['FrequentDockerRestart', 'True'],
      ],
    ],
    ...UNHEALTHY.map((condition) => ['warning', {}, [condition]] as const),
    ['unschedulable', { unschedulable: true }, [['Ready', 'False']]],
  ] as const) {
    it(`is ${status} with the conditions ${conditions?.join(' ')}`, () => {
      const objects = conditions?.map(([type, state]) => ({ type, status: state }));
      expect(platformStatus(spec, objects ? { conditions: objects } : {})).to.equal(status);
    });
  }
});
