// Type of a log record: one log line of a container, in the format of Fluent Bit's kubernetes filter.

/** One log line of a container, in the format of Fluent Bit's kubernetes filter. */
export interface LogRecord {
  /** The line without its newline. */
  readonly log: string;
  /** RFC 3339 in UTC with nanoseconds, such as `2026-11-20T10:00:00.123456789Z`. */
  readonly time: string;
  readonly stream: 'stdout' | 'stderr';
  readonly kubernetes: {
    readonly pod_name: string;
    readonly namespace_name: string;
    /** The uid of the pod. */
    readonly pod_id: string;
    readonly container_name: string;
    /** Container ID; changes with each restart. */
    readonly docker_id: string;
    readonly container_image: string;
    /** The name of the node. */
    readonly host: string;
    readonly labels: Readonly<Record<string, string>>;
  };
}

export type LogRecords = Iterable<LogRecord> | AsyncIterable<LogRecord>;
