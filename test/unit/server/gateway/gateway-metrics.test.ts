// Tests of the metrics of the gateway.
import { expect } from 'chai';
import { Registry } from 'prom-client';
import { GatewayMetrics } from '../../../../server/gateway/gateway-metrics.ts';

describe('GatewayMetrics', () => {
  it('counts completed requests by verb, status code and upgrade, with bounded labels', async () => {
    const registry = new Registry();
    const metrics = new GatewayMetrics(registry, {
      requests: () => 0,
      streams: () => 0,
      trusted: () => undefined,
    });
    metrics.completed('get', 200, '');
    metrics.completed('get', 200, '');
    metrics.completed('create', 101, 'SPDY/3.1');
    metrics.completed('get', 101, 'WebSocket');
    metrics.completed('options', 405, '');
    for (let code = 600; code < 700; code++) metrics.completed('get', code, '');
    for (let scrape = 0; scrape < 2; scrape++) {
      const text = await registry.getSingleMetricAsString('gateway_requests_total');
      expect(text.split('\n').filter((line) => !line.startsWith('#'))).to.have.members([
        'gateway_requests_total{verb="get",code="200",upgrade=""} 2',
        'gateway_requests_total{verb="create",code="101",upgrade="spdy"} 1',
        'gateway_requests_total{verb="get",code="101",upgrade="websocket"} 1',
        'gateway_requests_total{verb="other",code="405",upgrade=""} 1',
        'gateway_requests_total{verb="get",code="600",upgrade=""} 100',
      ]);
    }
  });
});
