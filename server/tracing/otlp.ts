// Encodes spans in the OpenTelemetry Protocol (OTLP). Only this module imports OpenTelemetry, and it is loaded only if tracing is enabled.
import { type HrTime, SpanKind, SpanStatusCode, TraceFlags } from '@opentelemetry/api';
import { ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer';
import { type Resource, resourceFromAttributes } from '@opentelemetry/resources';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import type { Span, SpanAttributes } from './span.ts';

export const CONTENT_TYPE = 'application/x-protobuf';

/** Returns the function that encodes a request for the path `/v1/traces`. `attributes`: those of the server itself. */
export function spanEncoder(attributes: SpanAttributes): (spans: readonly Span[]) => Buffer {
  const resource = resourceFromAttributes({ ...attributes });
  return (spans) => {
    const encoded = ProtobufTraceSerializer.serializeRequest(spans.map((span) => readable(span, resource)));
    return Buffer.from(encoded ?? []);
  };
}

/**
 * Returns how many of the spans a collector has rejected, from its response with status 200. A body in another format rejects none:
 * the spans have arrived, and a further request would have the same response.
 */
export function rejectedSpans(response: Uint8Array): number {
  try {
    return ProtobufTraceSerializer.deserializeResponse(response).partialSuccess?.rejectedSpans ?? 0;
  } catch {
    return 0;
  }
}

const SCOPE = { name: 'ks-apiserver' };

function readable(span: Span, resource: Resource): ReadableSpan {
  const { traceID, spanID, parent } = span;
  const traceFlags = TraceFlags.SAMPLED;
  return {
    name: span.name,
    kind: span.kind === 'server' ? SpanKind.SERVER : SpanKind.CLIENT,
    spanContext: () => ({ traceId: traceID, spanId: spanID, traceFlags }),
    ...(parent
      ? {
          parentSpanContext: {
            traceId: traceID,
            spanId: parent.spanID,
            traceFlags,
            isRemote: parent.isRemote,
          },
        }
      : {}),
    startTime: timeOf(span.startedAt),
    endTime: timeOf(span.endedAt),
    duration: timeOf(span.endedAt - span.startedAt),
    ended: true,
    status: { code: span.isFailed ? SpanStatusCode.ERROR : SpanStatusCode.UNSET },
    attributes: { ...span.attributes },
    links: [],
    events: span.events.map(({ name, at, attributes }) => ({
      name,
      time: timeOf(at),
      attributes: { ...attributes },
    })),
    resource,
    instrumentationScope: SCOPE,
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

/** Seconds and nanoseconds. */
function timeOf(ms: number): HrTime {
  return [Math.floor(ms / 1_000), Math.floor((ms % 1_000) * 1e6)];
}
