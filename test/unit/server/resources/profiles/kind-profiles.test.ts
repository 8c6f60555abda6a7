// Tests of the sort keys and selectable fields of kinds.
import { expect } from 'chai';
import { comparisonBy, sortKeysOf } from '../../../../../server/resources/kind-profile.ts';
import { KindCache, PODS, plain, WIDGETS } from '../../../../support/platform/kind-cache.ts';

function sorted(cache: KindCache, key: string): string[] {
  const all = Array.from(cache.snapshot().objects(), ({ identity }) => identity);
  return all.sort(comparisonBy(cache.profile, key)).map(({ name }) => name);
}

describe('the profile of a kind', () => {
  it('sorts pods by restarts and node', () => {
    const pod = (name: string, version: number, restartCount: number, nodeName?: string) =>
      plain(
        `shop/${name}`,
        version,
        {},
        { spec: { nodeName }, status: { containerStatuses: [{ restartCount }] } },
      );
    const pods = new KindCache(PODS).fill(3, [
      pod('a', 1, 10, 'node-2'),
      pod('b', 2, 9, 'node-1'),
      pod('c', 3, 0),
    ]);
    expect(sorted(pods, 'restarts')).to.deep.equal(['c', 'b', 'a']);
    expect(sorted(pods, 'node')).to.deep.equal(['c', 'b', 'a']);
  });

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

  it('sorts custom resources by their printer columns, numbers by value', () => {
    const widget = (name: string, version: number, spec: object) =>
      plain(`shop/${name}`, version, {}, { spec });
    const widgets = new KindCache(WIDGETS).fill(4, [
      widget('a', 1, { size: 10, color: 'red' }),
      widget('b', 2, { size: 9, color: 'blue' }),
      widget('c', 3, {}),
      widget('d', 4, { size: -1, color: 'green' }),
    ]);
    expect(sortKeysOf(widgets.profile)).to.include.members(['Size', 'Color', 'name']);
    expect(sorted(widgets, 'Size')).to.deep.equal(['c', 'd', 'b', 'a']);
    expect(sorted(widgets, 'Color')).to.deep.equal(['c', 'b', 'd', 'a']);
  });

  it('reads the fields of field selectors from the facts', () => {
    const pods = new KindCache(PODS).fill(1, [plain('shop/a', 1, {}, { spec: { nodeName: 'node-1' } })]);
    const object = pods.snapshot().get('shop/a');
    expect(object && pods.profile.fields['spec.nodeName']?.(object)).to.equal('node-1');
    expect(object && pods.profile.fields['status.phase']?.(object)).to.equal('');
  });
});
