// Tests of the metrics of watches.
import { expect } from 'chai';
import { Registry } from 'prom-client';
import { WatchMetrics } from '../../../../server/rest/watch-metrics.ts';

describe('WatchMetrics', () => {
  it('counts events and bytes per resource across scrapes', async () => {
    const registry = new Registry();
    const reporter = new WatchMetrics(registry).observe({ group: 'g', version: 'v1', plural: 'things' });
    reporter.sent(3, 100);
    reporter.sent(1, 20);
    reporter.ended('slow');
    for (let scrape = 0; scrape < 2; scrape += 1) {
      const text = await registry.metrics();
      expect(text).to.contain('apiserver_watch_events_total{group="g",version="v1",resource="things"} 4');
      expect(text).to.contain('apiserver_watch_bytes_total{group="g",version="v1",resource="things"} 120');
      expect(text).to.contain('resource="things",cause="slow"} 1');
    }
  });
});
