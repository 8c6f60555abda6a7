// Logger of the server: one JSON object per line on standard output.
import { type DestinationStream, type Logger, pino } from 'pino';
import { LineOutput } from './line-output.ts';
import { redacted } from './redaction.ts';
import { textLines } from './text-lines.ts';

// Levels:
//   fatal  the process exits
//   error  a bug or failure that needs an operator
//   warn   a failure that recovers without an operator, or a future failure (an expiring certificate)
//   info   start, stop, reloads, rejected and mutating requests
//   debug  reads, failed handshakes

interface LogOptions {
  readonly level: string;
  /** `json` by default. */
  readonly format?: 'json' | 'text';
}

/** Creates the logger. It writes to `output`, by default to standard output, which is flushed at exit. */
export function createLogger(options: LogOptions, output?: DestinationStream): Logger {
  if (output) return loggerTo(options, output);
  const standard = new LineOutput({
    fd: 1,
    recovered: (lines) => log.warn({ lines }, 'log lines dropped: standard output was not writable'),
  });
  const log = loggerTo(options, standard);
  process.once('exit', () => standard.flushSync());
  return log;
}

function loggerTo(options: LogOptions, output: DestinationStream): Logger {
  return pino(
    {
      level: options.level,
      base: null,
      messageKey: 'message',
      timestamp: newTimestamp(),
      formatters: { level: (label) => ({ level: label }), log: redacted },
      serializers: { err: describeError },
    },
    options.format === 'text' ? textLines(output) : output,
  );
}

/** Creates the function that returns the time field. It caches the text for the current millisecond. */
function newTimestamp(): () => string {
  let last = 0;
  let text = '';
  return () => {
    const now = Date.now();
    if (now !== last) {
      last = now;
      text = `,"time":"${new Date(now).toISOString()}"`;
    }
    return text;
  };
}

interface DescribedError {
  readonly type: string;
  readonly message: string;
  readonly code?: string | number;
  readonly stack?: string;
  readonly cause?: DescribedError;
}

/** Serializes only these properties, because errors of HTTP clients contain requests with headers and tokens. */
function describeError(error: unknown, depth = 0): DescribedError {
  if (!(error instanceof Error)) return { type: typeof error, message: String(error) };
  const code = 'code' in error && isCode(error.code) ? error.code : undefined;
  return {
    type: error.name,
    message: error.message,
    ...(code === undefined ? {} : { code }),
    ...(isExpected(error, code) || error.stack === undefined ? {} : { stack: error.stack }),
    ...(error.cause === undefined || depth > 4 ? {} : { cause: describeError(error.cause, depth + 1) }),
  };
}

/** Returns true for the error of a response or of the operating system, whose stack is of no use. */
function isExpected(error: Error, code: unknown): boolean {
  return (
    typeof code === 'number' ||
    'syscall' in error ||
    // Node's error for a prematurely closed connection has no system call.
    code === 'ECONNRESET' ||
    ('status' in error && isCode(error.status))
  );
}

function isCode(code: unknown): code is string | number {
  return typeof code === 'string' || typeof code === 'number';
}
