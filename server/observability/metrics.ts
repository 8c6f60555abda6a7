// The registry of metrics, our own and not the library's global one, so that two servers can live in one process.
// Each part of the server defines its metrics in a small function that takes the registry; here are only those of
// the process itself.
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
