// Tests of the metrics of requests.
import { expect } from 'chai';
import type { Registry } from 'prom-client';
import { RequestMetrics } from '../../../../server/filters/request-metrics.ts';
import { createRegistry } from '../../../../server/observability/metrics.ts';

const GET = { verb: 'GET', group: 'g', version: 'v1', resource: 'nodes', subresource: '', scope: 'resource' };
const SERIES =
  'verb="GET",group="g",version="v1",resource="nodes",subresource="",scope="resource",component="apiserver"';

describe('RequestMetrics', () => {
  let registry: Registry;
  let metrics: RequestMetrics;

  beforeEach(() => {
    registry = createRegistry();
    metrics = new RequestMetrics(registry);
  });

  async function lines(): Promise<string[]> {
    return (await registry.metrics()).split('\n');
  }

  it('counts requests by code, and durations in cumulative buckets with inclusive bounds', async () => {
    for (const seconds of [0.0005, 0.005, 0.3, 1000]) metrics.observe(GET, seconds > 1 ? 404 : 200, seconds);
    const name = 'apiserver_request_duration_seconds';
    const first = await lines();
    expect(await lines(), 'a second scrape').to.deep.equal(first);
    expect(first).to.include.members([
      `apiserver_request_total{${SERIES},code="200"} 3`,
      `apiserver_request_total{${SERIES},code="404"} 1`,
      `${name}_bucket{${SERIES},le="0.001"} 1`,
      `${name}_bucket{${SERIES},le="0.005"} 2`,
      `${name}_bucket{${SERIES},le="0.4"} 3`,
      `${name}_bucket{${SERIES},le="60"} 3`,
      `${name}_bucket{${SERIES},le="+Inf"} 4`,
      `${name}_count{${SERIES}} 4`,
    ]);
  });

  it('counts a watch without a duration, and as long-running while it is open', async () => {
    metrics.longRunning(GET, 1);
    expect(await lines()).to.include(`apiserver_longrunning_requests{${SERIES}} 1`);
    metrics.longRunning(GET, -1);
    metrics.count(GET, 200);
    const after = (await lines()).join('\n');
    expect(after).not.to.contain('apiserver_longrunning_requests{');
    expect(after).not.to.contain('duration_seconds_count{');
    expect(after).to.contain(`apiserver_request_total{${SERIES},code="200"} 1`);
  });

  it('reports requests in flight and terminated ones', async () => {
    metrics.inflight('readOnly', 1);
    metrics.terminated('GET', 429);
    expect(await lines()).to.include.members([
      'apiserver_current_inflight_requests{request_kind="readOnly"} 1',
      'apiserver_current_inflight_requests{request_kind="mutating"} 0',
      'apiserver_request_terminations_total{verb="GET",code="429"} 1',
    ]);
  });

  it('limits the number of status codes, which a backend chooses', async () => {
    for (let code = 200; code < 1000; code++) {
      metrics.observe(GET, code, 0.01);
      metrics.count(GET, code);
    }
    const series = (await lines()).filter((line) => line.startsWith('apiserver_request_total{'));
    expect(series.length).to.be.below(80);
    for (const code of [200, 404, 499, 503]) expect(series.join('\n')).to.contain(`,code="${code}"} `);
    expect(series.at(-1)).to.equal(`apiserver_request_total{${SERIES},code="900"} 200`);
  });

  it('limits the number of series', async () => {
    for (let index = 0; index < 1500; index++) metrics.observe({ ...GET, resource: `r${index}` }, 200, 0.01);
    const series = (await lines()).filter((line) => line.startsWith('apiserver_request_total{'));
    expect(series.length).to.be.within(500, 501);
    expect(series.at(-1)).to.match(/verb="OTHER".* 1000$/);
  });
});
