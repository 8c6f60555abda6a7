// Programs that the bench runs as processes of their own: they report in lines, and end with their input.
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';

export interface Program {
  readonly pid: number;
  readonly input: Writable;
  /** The next line that it says. Throws when it has ended. */
  line(): Promise<string>;
  end(): void;
}

export function startProgram(file: string, args: readonly string[], signal: AbortSignal): Program {
  const child: ChildProcessByStdio<Writable, Readable, null> = spawn(process.execPath, [file, ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
    signal,
  });
  // Its end shows in the line that does not come.
  child.on('error', () => undefined);
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  return {
    pid: child.pid ?? 0,
    input: child.stdin,
    async line() {
      const { done, value } = await lines.next();
      if (done) throw new Error(`${file} has ended`);
      return value;
    },
    end: () => child.stdin.end(),
  };
}
