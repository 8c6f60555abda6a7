import { expect } from 'chai';
import type { Shortfall } from '../../../../../../../apis/logging/v1alpha2/log-answer.ts';
import {
  sumOfHistograms,
  sumOfStatistics,
} from '../../../../../../../server/logging/backends/opensearch/paging/sums.ts';
import type { Total } from '../../../../../../../server/logging/log-store.ts';

const exactly = (count: number): Total => ({ count, relation: 'eq' });
const atLeast = (count: number): Total => ({ count, relation: 'gte' });
const late: Shortfall = { reason: 'Timeout', message: 'the time was up' };

describe('what the slices of one question answered, put together', () => {
  it('counts the lines and the containers of all', () => {
    const slice = { logs: exactly(2), containers: 3, containersApproximate: false, shortfalls: [] };
    expect(sumOfStatistics([slice, { ...slice, logs: exactly(5), containers: 4 }])).to.deep.equal({
      logs: exactly(7),
      containers: 7,
      containersApproximate: false,
      shortfalls: [],
    });
  });

  it('is as exact as the least exact of them, and tells once what several say', () => {
    const slice = { logs: exactly(2), containers: 3, containersApproximate: false, shortfalls: [late] };
    const rough = { ...slice, logs: atLeast(5), containersApproximate: true };
    for (const slices of [
      [slice, rough],
      [rough, slice],
    ]) {
      expect(sumOfStatistics(slices)).to.deep.equal({
        logs: atLeast(7),
        containers: 6,
        containersApproximate: true,
        shortfalls: [late],
      });
    }
  });

  it('adds up bucket by bucket', () => {
    const slices = [
      { total: exactly(3), counts: [1, 2], shortfalls: [] },
      { total: exactly(7), counts: [3, 4], shortfalls: [late] },
    ];
    expect(sumOfHistograms(slices, { edges: [0, 10, 20] })).to.deep.equal({
      total: exactly(10),
      counts: [4, 6],
      shortfalls: [late],
    });
  });
});
