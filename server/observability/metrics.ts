// The registry of metrics, one per server instead of prom-client's global one, and the metrics of the process. Each part of
// the server registers its own metrics.
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';

export function createRegistry(): Registry {
  return new Registry();
}

/** CPU, memory, file descriptors, garbage collection and event loop lag, under the usual `process_` and `nodejs_` names. */
export function collectProcessMetrics(registry: Registry, version: string): void {
  // 20 ms: the monitor wakes the process at this pace also when it is idle.
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 20 });
  new Gauge({
    name: 'kubernetes_build_info',
    help: 'Always 1; the labels say which version runs.',
    labelNames: ['git_version', 'node_version'],
    registers: [registry],
  }).set({ git_version: `v${version}`, node_version: process.version }, 1);
}
