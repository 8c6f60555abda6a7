// Tests of the colour of status words.
import { expect } from 'chai';
import { toneOfCondition, toneOfStatus } from '../../../client/status-tone.ts';

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

  it('depends on the type of a condition', () => {
    const tones = [
      ['Ready', 'True'],
      ['Ready', 'False'],
      ['MemoryPressure', 'True'],
      ['MemoryPressure', 'False'],
      ['Ready', 'Unknown'],
    ].map(([type = '', status = '']) => toneOfCondition(type, status));
    expect(tones).to.deep.equal(['good', 'bad', 'bad', 'good', 'idle']);
  });
});
