import { expect } from 'chai';
import { Shortfalls } from '../../../../../../../server/logging/backends/kubernetes/reading/shortfalls.ts';
import { PAGE_CUT } from '../../../../../../../server/logging/page-limit.ts';
import { at } from '../instants.ts';

const none = { count: 0, names: [] };

describe('what an answer out of pod logs does not cover', () => {
  it('is nothing at first', () => {
    expect(new Shortfalls(none).list()).to.deep.equal([]);
  });

  it('is said once for each reason, with the names in order, of more than five only the first', () => {
    const shortfalls = new Shortfalls({ count: 9, names: ['f', 'e', 'd', 'c', 'b'] });
    shortfalls.timedOut(2);
    shortfalls.tooLong('n', 'newest');
    shortfalls.tooLong('o', 'oldest');
    for (const count of [1, 0, 2]) shortfalls.cutLines(count);
    shortfalls.linesAreCounted();
    shortfalls.cutLines(7);
    shortfalls.pageCut();
    shortfalls.lineShortened();
    for (const name of ['z', 'y', 'y']) shortfalls.failed(name);
    shortfalls.gone('g');
    shortfalls.restarted('r');
    shortfalls.podsUnknown(1_499);
    for (const second of [3, 5, 4]) shortfalls.rotated(`k${second}`, at(second).time);
    const kept = `kept from ${at(5).time} on at the latest, older lines are no longer there`;
    expect(shortfalls.list()).to.deep.equal([
      { reason: 'Timeout', message: 'the time was up before 2 logs had been read to the end' },
      {
        reason: 'Limit',
        message:
          '9 logs were left out, because one query reads no more containers; ask for fewer: b, c, d, e, f and 4 more',
      },
      { reason: 'Limit', message: '1 log was so long that only the newest lines were read: n' },
      { reason: 'Limit', message: '1 log was so long that only the oldest lines of that time were read: o' },
      { reason: 'Limit', message: '3 lines were too long, and were cut' },
      PAGE_CUT,
      {
        reason: 'Limit',
        message:
          'lines are too long for a pattern of this size, which was looked for at their beginning alone',
      },
      {
        reason: 'NotCovered',
        message: '2 logs were not read to the end, because the kubelet did not answer as it should: y, z',
      },
      {
        reason: 'NotCovered',
        message: '1 log was not read to the end, because the pod or its log was removed: g',
      },
      {
        reason: 'NotCovered',
        message: '1 log was perhaps not read to the end, because the container started anew meanwhile: r',
      },
      {
        reason: 'NotCovered',
        message: 'of pods that came in the last 1 s the cluster has told nothing',
      },
      { reason: 'NotCovered', message: `3 logs were ${kept}: k3, k4, k5` },
    ]);
  });
});
