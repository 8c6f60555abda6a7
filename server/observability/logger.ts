// The log: one JSON object a line on standard output. What a level means:
//   fatal  the process ends because of this
//   error  something is broken and somebody has to act
//   warn   something is wrong that heals by itself, or will break later (a certificate about to expire)
//   info   what an operator wants to see in daily work: start, stop, reloads, requests that were refused or changed
//          something
//   debug  what a developer wants to see: every read, every handshake that failed
// It owns the form of lines, not what is logged.
import { type DestinationStream, type Logger, pino } from 'pino';
import { LineOutput } from './line-output.ts';
import { redacted } from './redaction.ts';
import { textLines } from './text-lines.ts';

export interface LogOptions {
  readonly level: string;
  readonly format: 'json' | 'text';
}

/** Without an output to standard output, which is written before the process ends. */
export function createLogger(options: LogOptions, output?: DestinationStream): Logger {
  if (output) return loggerTo(options, output);
  const standard = new LineOutput({
    fd: 1,
    recovered: (lines) => log.warn({ lines }, 'lines of this log were lost: it could not be written'),
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

/** Lines of the same millisecond share its text. */
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

/** Only these members: errors of HTTP clients carry whole requests, headers and tokens included. */
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

/** An answer with a status, or an error of the operating system: the stack says nothing. */
function isExpected(error: Error, code: unknown): boolean {
  return (
    typeof code === 'number' ||
    'syscall' in error ||
    // Node's own words for a connection that was closed too early name no system call.
    code === 'ECONNRESET' ||
    ('status' in error && isCode(error.status))
  );
}

function isCode(code: unknown): code is string | number {
  return typeof code === 'string' || typeof code === 'number';
}
