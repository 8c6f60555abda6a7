// Generates the Markdown table of the server's metrics.
import type { Registry } from 'prom-client';
import { array, record, text } from '../../apis/reading/unknown-value.ts';
import { Admission } from '../../server/admission/admission.ts';
import { CacheMetrics } from '../../server/cache/cache-metrics.ts';
import { collectHealthMetrics } from '../../server/endpoints/health.ts';
import { RequestMetrics } from '../../server/filters/request-metrics.ts';
import { newCachedReads } from '../../server/gateway/acceleration/accelerator.ts';
import { GatewayMetrics } from '../../server/gateway/gateway-metrics.ts';
import { newCertificateMetrics } from '../../server/listener/certificates/certificate-metrics.ts';
import { newListenerMetrics } from '../../server/listener/listener-metrics.ts';
import { LogMetrics } from '../../server/logging/store/log-metrics.ts';
import { OAuthMetrics } from '../../server/oauth/oauth-metrics.ts';
import { AccessMetrics } from '../../server/observability/access-metrics.ts';
import { collectProcessMetrics, createRegistry } from '../../server/observability/metrics.ts';
import { collectRegistrationMetrics } from '../../server/registration/registration.ts';
import { WatchMetrics } from '../../server/rest/watch-metrics.ts';
import { TracingMetrics } from '../../server/tracing/tracing-metrics.ts';
import { table } from './markdown-table.ts';

/** Default metrics of Node programs. The table omits them; the document mentions them as a group. */
const OF_THE_PROCESS = /^(process|nodejs)_/;

/**
 * Lists the metrics that the modules of the server register. A test compares the table with a running server, so that no
 * module is missing.
 */
export async function metricsTable(): Promise<string> {
  const metrics = await registered().getMetricsAsJSON();
  const own = metrics.filter(({ name }) => !OF_THE_PROCESS.test(name));
  return table(
    ['metric', 'meaning'],
    own
      .sort((left, right) => (left.name < right.name ? -1 : 1))
      .map(({ name, help }) => [`\`${name}\``, help]),
  );
}

/** The names of the labels of each metric. */
export function labelsByMetric(): Map<string, readonly string[]> {
  return new Map(
    registered()
      .getMetricsAsArray()
      .map((metric) => [metric.name, array(record(metric)['labelNames']).map(text)]),
  );
}

function registered(): Registry {
  const registry = createRegistry();
  collectProcessMetrics(registry, '0');
  newListenerMetrics(registry);
  newCertificateMetrics(registry);
  new CacheMetrics(registry).observe('', () => ({
    synced: false,
    watchers: 0,
    objects: 0,
    bytes: 0,
    maxBytes: 0,
    ageMs: 0,
  }));
  void new Admission(registry);
  void new AccessMetrics(registry);
  void new RequestMetrics(registry);
  void new OAuthMetrics(registry);
  void new LogMetrics(registry);
  void new WatchMetrics(registry);
  void new TracingMetrics(registry);
  void new GatewayMetrics(registry, { requests: () => 0, streams: () => 0, trusted: () => undefined });
  newCachedReads(registry);
  collectHealthMetrics(registry, []);
  collectRegistrationMetrics(registry, () => []);
  return registry;
}
