// Tests of the sort keys of kinds.
import { expect } from 'chai';
import { comparisonBy } from '../../../../../server/resources/kind-profile.ts';
import { KindCache, plain } from '../../../../support/platform/kind-cache.ts';

function sorted(cache: KindCache, key: string): string[] {
  const all = Array.from(cache.snapshot().objects(), ({ identity }) => identity);
  return all.sort(comparisonBy(cache.profile, key)).map(({ name }) => name);
}

describe('the profile of a kind', () => {
  it('sorts events by the time at which they last occurred', () => {
    const kind = { group: '', version: 'v1', plural: 'events', kind: 'Event', namespaced: true };
    const event = (name: string, version: number, times: object) => plain(`shop/${name}`, version, {}, times);
    const events = new KindCache(kind).fill(4, [
      event('a', 1, { lastTimestamp: '2026-01-01T00:00:03Z', eventTime: null }),
      event('b', 2, { eventTime: '2026-01-01T00:00:02.500000Z', lastTimestamp: null }),
      event('c', 3, {
        eventTime: '2026-01-01T00:00:00.000000Z',
        series: { lastObservedTime: '2026-01-01T00:00:04.000000Z' },
      }),
      event('d', 4, {}),
    ]);
    expect(sorted(events, 'lastTimestamp')).to.deep.equal(['d', 'b', 'a', 'c']);
  });
});
