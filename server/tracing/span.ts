// Span: one operation of a trace, as data for the exporter.

export type SpanAttributes = Readonly<Record<string, string | number>>;

/** Times are in ms since the epoch. */
export interface Span {
  readonly name: string;
  readonly kind: 'server' | 'client';
  readonly traceID: string;
  readonly spanID: string;
  /** Undefined for the first span of a trace. */
  readonly parent: { readonly spanID: string; readonly isRemote: boolean } | undefined;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly attributes: SpanAttributes;
  readonly events: readonly SpanEvent[];
  readonly isFailed: boolean;
}

interface SpanEvent {
  readonly name: string;
  readonly at: number;
  readonly attributes: SpanAttributes;
}

/** Receives the spans of a request together. Never waits, never throws. */
export interface SpanSink {
  add(spans: readonly Span[]): void;
}
