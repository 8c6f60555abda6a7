// Programs that are told in lines what to do, say in lines what has come of it, and end with their input.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

export interface ToldProgram {
  readonly pid: number;
  tell(line: string): void;
  /** The next line that it says. Throws when it has ended. */
  line(): Promise<string>;
  /** Resolves when it has ended. */
  end(): Promise<void>;
}

export function startTold(command: string, args: readonly string[], signal: AbortSignal): ToldProgram {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'], signal });
  // Its end shows in the line that does not come.
  child.on('error', () => undefined);
  child.stdin.on('error', () => undefined);
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  return {
    pid: child.pid ?? 0,
    tell: (line) => void child.stdin.write(`${line}\n`),
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
