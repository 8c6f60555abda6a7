// Tests of the colour of status words.
import { expect } from 'chai';
import { statusCounts, toneOfCondition, toneOfStatus } from '../../../client/status-tone.ts';

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

  it('orders the most frequent statuses of a facet', () => {
    const shown = statusCounts({ Failed: 3, Pending: 1, Running: 2, Completed: 9 }, 3);
    expect(shown).to.deep.equal([
      { status: 'Completed', count: 9, tone: 'good' },
      { status: 'Running', count: 2, tone: 'good' },
      { status: 'Failed', count: 3, tone: 'bad' },
    ]);
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
