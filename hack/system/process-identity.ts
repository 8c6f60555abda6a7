// Reads the identity and state of a process, from /proc on Linux and from `ps` elsewhere.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

/** PID and start time, which identify a process even after the system reuses its PID. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Start time in the format of the system, for comparison only. */
  readonly startedAt: string;
}

/** The identity of a running process; undefined if the PID does not exist. */
export function identify(pid: number): ProcessIdentity | undefined {
  const startedAt = process.platform === 'linux' ? startOnLinux(pid) : startByPs(pid);
  return startedAt === undefined ? undefined : { pid, startedAt };
}

export function isRunning(identity: ProcessIdentity): boolean {
  return identify(identity.pid)?.startedAt === identity.startedAt;
}

/** Whether all threads of the process are stopped. SIGSTOP takes effect some time after kill() has returned. */
export function isStopped(pid: number): boolean {
  try {
    return process.platform === 'linux' ? isStoppedOnLinux(pid) : stateByPs(pid) === 'T';
  } catch {
    return false; // the process or one of its threads has just exited
  }
}

/** Reads an identity from parsed JSON; undefined for anything else. */
export function readIdentity(value: unknown): ProcessIdentity | undefined {
  if (typeof value !== 'object' || value === null || !('pid' in value) || !('startedAt' in value)) {
    return undefined;
  }
  const { pid, startedAt } = value;
  return typeof pid === 'number' && typeof startedAt === 'string' ? { pid, startedAt } : undefined;
}

/** The fields of /proc/PID/stat from the third one, the state. */
function statOnLinux(path: string): string[] {
  const stat = readFileSync(path, 'utf8');
  // The second field is the program name in parentheses, which may contain spaces and parentheses.
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

function isStoppedOnLinux(pid: number): boolean {
  const tasks = `/proc/${pid}/task`;
  return readdirSync(tasks).every((thread) => statOnLinux(`${tasks}/${thread}/stat`)[0] === 'T');
}

function startOnLinux(pid: number): string | undefined {
  try {
    const fields = statOnLinux(`/proc/${pid}/stat`);
    const [state] = fields;
    if (state === 'Z' || state === 'X') return undefined;
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return `${boot}/${fields[19]}`;
  } catch {
    return undefined;
  }
}

function stateByPs(pid: number): string | undefined {
  return execFileSync('ps', ['-o', 'state=', '-p', String(pid)], { encoding: 'utf8' }).trim()[0];
}

function startByPs(pid: number): string | undefined {
  try {
    const start = execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim();
    return start === '' ? undefined : start;
  } catch {
    return undefined;
  }
}
