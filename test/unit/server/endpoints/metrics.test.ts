// Tests of the handler of /metrics.
import { expect } from 'chai';
import { metricsHandler } from '../../../../server/endpoints/metrics.ts';
import { collectProcessMetrics, createRegistry } from '../../../../server/observability/metrics.ts';
import { serve } from './serving.ts';

describe('metricsHandler', () => {
  it('returns metrics in the text format of Prometheus', async () => {
    const registry = createRegistry();
    collectProcessMetrics(registry, '1.2.3');
    const { text, headers } = await serve(metricsHandler(registry), '/metrics');
    expect(headers.get('content-type')).to.equal('text/plain; version=0.0.4; charset=utf-8');
    expect(text).to.match(/^process_resident_memory_bytes \d+$/m);
    expect(text).to.match(/^nodejs_eventloop_lag_p99_seconds /m);
    expect(text).to.match(/^kubernetes_build_info\{git_version="v1\.2\.3"/m);
  });
});
