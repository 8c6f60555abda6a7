// Prints progress lines on standard output.
/** Receives progress messages. A transient line replaces the previous transient line; other lines are permanent. */
export type Progress = (line: string, transient?: boolean) => void;

interface ProgressStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

/** Interval of transient lines without a terminal, in ms. */
const QUIET = 15_000;

/** Prints lines; on a terminal, transient lines update in place. */
export function printProgress(stream: ProgressStream, now: () => number = Date.now): Progress {
  let inPlace = false;
  let last = now();
  return (line, transient = false) => {
    if (stream.isTTY === true) {
      // A terminal of unknown size (`docker exec -t`, `script`) has 0 columns.
      const room = Math.max(20, (stream.columns || 80) - 1);
      const text = transient ? line.slice(0, room) : line;
      stream.write(`${inPlace ? '\r\u001b[K' : ''}${text}${transient ? '' : '\n'}`);
      inPlace = transient;
      return;
    }
    if (!transient || now() - last >= QUIET) {
      stream.write(`${line}\n`);
      last = now();
    }
  };
}

/** 75 s as `1m15s`. */
export function formatElapsed(milliseconds: number): string {
  const seconds = Math.floor(milliseconds / 1000);
  const minutes = Math.floor(seconds / 60);
  return minutes === 0 ? `${seconds}s` : `${minutes}m${String(seconds % 60).padStart(2, '0')}s`;
}

/** Reports `describe()` with the elapsed time every second until the work completes. */
export async function withElapsed<T>(
  progress: Progress,
  describe: () => string,
  work: () => Promise<T>,
): Promise<T> {
  const start = Date.now();
  const timer = setInterval(
    () => progress(`${describe()} (${formatElapsed(Date.now() - start)})`, true),
    1000,
  );
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
