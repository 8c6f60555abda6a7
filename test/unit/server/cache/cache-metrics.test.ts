// Tests of the metrics of reflectors and caches.
import { expect } from 'chai';
import { Registry } from 'prom-client';
import { CacheMetrics } from '../../../../server/cache/cache-metrics.ts';

describe('CacheMetrics', () => {
  it('has no series of a resource that is not followed any more, even after a late event', async () => {
    const registry = new Registry();
    const metrics = new CacheMetrics(registry);
    const gauges = { synced: true, watchers: 0, objects: 1, bytes: 1, ageMs: 1 };
    const observer = metrics.observe('widgets.example.com', () => gauges);
    const report = (): void => {
      observer.listed?.('stream', 0.1);
      observer.listed?.('pages', 0.1);
      observer.watchEnded?.('end');
      observer.watchEnded?.('error');
      observer.progressed?.('7');
    };
    report();
    expect((await registry.metrics()).match(/widgets/g)).to.have.length.above(10);
    metrics.remove('widgets.example.com');
    expect(await registry.metrics()).not.to.include('widgets');
    report();
    expect(await registry.metrics()).not.to.include('widgets');
  });
});
