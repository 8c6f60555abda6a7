// The composition root of tracing. It loads the exporter, and with it OpenTelemetry, only if tracing is enabled.
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { CompletedConfig } from '../config/config.ts';
import { Sampler } from './sampler.ts';
import type { SpanExporter } from './span-exporter.ts';
import { TracingMetrics } from './tracing-metrics.ts';

export interface Tracing {
  readonly sampler: Sampler;
  /** Receives the spans; also the background task that exports them. */
  readonly spans: SpanExporter;
}

/** Returns undefined if tracing is disabled. */
export async function newTracing(
  { tracing, platform, environment }: Pick<CompletedConfig, 'tracing' | 'platform' | 'environment'>,
  { version, metrics, log }: { readonly version: string; readonly metrics: Registry; readonly log: Logger },
): Promise<Tracing | undefined> {
  const { endpoint, caFile, samplingRatePerMillion: ratePerMillion } = tracing;
  if (endpoint === '') return undefined;
  const [{ SpanExporter: Exporter }, { spanEncoder }] = await Promise.all([
    import('./span-exporter.ts'),
    import('./otlp.ts'),
  ]);
  return {
    sampler: new Sampler({ ratePerMillion, random: Math.random, monotonic: () => performance.now() }),
    spans: new Exporter({
      endpoint,
      caFile,
      encode: spanEncoder({
        'service.name': 'ks-apiserver',
        'service.version': version,
        'service.instance.id': environment.instance,
        'k8s.namespace.name': platform.namespace,
      }),
      metrics: new TracingMetrics(metrics),
      log,
    }),
  };
}
