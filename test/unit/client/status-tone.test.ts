// Tests of the colour of status words.
import { expect } from 'chai';
import { toneOfStatus } from '../../../client/status-tone.ts';

describe('the tone of a status', () => {
  const tones = {
    good: ['Running', 'Complete', 'available', 'Normal'],
    idle: ['', 'Unknown', 'unschedulable'],
    warn: ['Pending', 'Terminating', 'Init:0/2', 'Warning', 'Upgrading', 'BackingUp'],
    bad: ['CrashLoopBackOff', 'NotReady', 'degraded', 'Failing', 'FailingOver', 'Missing', 'Evicted'],
  };
  for (const [tone, words] of Object.entries(tones))
    it(`is ${tone} for ${words.map((word) => `“${word}”`).join(', ')}`, () => {
      expect(words.map(toneOfStatus)).to.deep.equal(words.map(() => tone));
    });
});
