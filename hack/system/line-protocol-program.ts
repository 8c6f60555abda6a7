// Starts a child process that reads commands from stdin and writes results to stdout, one per line. The child
// process exits at EOF.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

export interface LineProtocolProgram {
  readonly pid: number;
  send(line: string): void;
  /** Returns the next output line. Throws if the program has exited. */
  line(): Promise<string>;
  /** Closes its input and waits for its exit. */
  end(): Promise<void>;
}

export function startLineProtocolProgram(
  command: string,
  args: readonly string[],
  signal: AbortSignal,
): LineProtocolProgram {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'], signal });
  // line() reports the exit.
  child.on('error', () => undefined);
  child.stdin.on('error', () => undefined);
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  return {
    pid: child.pid ?? 0,
    send: (line) => void child.stdin.write(`${line}\n`),
    async line() {
      const { done, value } = await lines.next();
      if (done) throw new Error(`${[command, ...args].join(' ')} has ended`);
      return value;
    },
    async end() {
      child.stdin.end();
      if (child.pid !== undefined && child.exitCode === null && child.signalCode === null)
        await once(child, 'exit');
    },
  };
}
