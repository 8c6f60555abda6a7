// Tests of the handler of /metrics.
import { expect } from 'chai';
import { metricsHandler } from '../../../../server/endpoints/metrics.ts';
import { collectProcessMetrics, createRegistry } from '../../../../server/observability/metrics.ts';
import { HandlerServer } from '../../../support/handler-server.ts';

describe('metricsHandler', () => {
  it('returns metrics in the text format of Prometheus', async () => {
    const registry = createRegistry();
    collectProcessMetrics(registry, '1.2.3');
    await using server = await new HandlerServer(metricsHandler(registry)).start();
    const { body, headers } = await server.ask('/metrics');
    expect(headers['content-type']).to.equal('text/plain; version=0.0.4; charset=utf-8');
    expect(body.toString()).to.match(/^process_resident_memory_bytes \d+$/m);
    expect(body.toString()).to.match(/^nodejs_eventloop_lag_p99_seconds /m);
    expect(body.toString()).to.match(/^kubernetes_build_info\{git_version="v1\.2\.3"/m);
  });
});
