// Creates the Prometheus registry of the server, with the metrics of the process.
import { totalmem } from 'node:os';
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';

export function createRegistry(): Registry {
  return new Registry();
}

/** Adds CPU, memory, file descriptors, garbage collection and event loop lag, with the standard `process_` and `nodejs_` names. */
export function collectProcessMetrics(registry: Registry, version: string): void {
  // 20 ms, because the monitor wakes an idle process at this interval.
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 20 });
  new Gauge({
    name: 'kubernetes_build_info',
    help: 'Always 1. The labels are the versions of the server and of Node.js.',
    labelNames: ['git_version', 'node_version'],
    registers: [registry],
  }).set({ git_version: `v${version}`, node_version: process.version }, 1);
  new Gauge({
    name: 'apiserver_memory_limit_bytes',
    help: 'Memory limit of the container, or of the machine.',
    registers: [registry],
    // 0 if the limit is unknown.
  }).set(Math.min(process.constrainedMemory() || Number.POSITIVE_INFINITY, totalmem()));
}
