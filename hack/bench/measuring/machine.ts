// Reads the properties of the benchmark machine, and pins processes to CPU cores.
import { execFile } from 'node:child_process';
import { availableParallelism, cpus, loadavg, release, totalmem, type } from 'node:os';
import { promisify } from 'node:util';

/** Properties of the machine that matter for the results, without identifying it. */
export interface Machine {
  readonly cores: number;
  readonly processor: string;
  readonly memoryGB: number;
  readonly system: string;
  readonly node: string;
  /** Load average of the minute before the bench: above 0.5 other programs were running. */
  readonly loadBefore: number;
  /** The core of the load generator, and the core of the measured server. */
  readonly loadCore: number | undefined;
  readonly serverCore: number | undefined;
}

export async function describeMachine(): Promise<Machine> {
  const cores = availableParallelism();
  const pinned = cores > 1 && (await canPin());
  return {
    cores,
    processor: cpus()[0]?.model ?? 'unknown',
    memoryGB: Math.round(totalmem() / 1e9),
    system: `${type()} ${release().split('-')[0] ?? ''}`,
    node: process.version,
    loadBefore: loadavg()[0] ?? 0,
    loadCore: pinned ? 1 : undefined,
    serverCore: pinned ? 0 : undefined,
  };
}

/** Runs `work` while all threads of a process are pinned to one core. */
export async function pinned<T>(pid: number, machine: Machine, work: () => Promise<T>): Promise<T> {
  if (machine.serverCore === undefined) return work();
  await taskset(String(machine.serverCore), pid);
  try {
    return await work();
  } finally {
    await taskset(allCores(machine), pid);
  }
}

/** Runs `work` while a process is pinned to one core, and the processes `others` to the other cores. */
export async function alone<T>(
  pid: number,
  others: readonly number[],
  machine: Machine,
  work: () => Promise<T>,
): Promise<T> {
  if (machine.serverCore === undefined) return work();
  try {
    for (const other of others) await taskset(otherCores(machine), other);
    return await pinned(pid, machine, work);
  } finally {
    for (const other of others) await taskset(allCores(machine), other);
  }
}

/** Starts a program that never runs on the core of the measured server, nor do the processes that it starts. */
export async function besideServer<T>(machine: Machine, start: () => Promise<T>): Promise<T> {
  if (machine.serverCore === undefined) return start();
  await taskset(otherCores(machine), process.pid);
  try {
    return await start();
  } finally {
    await taskset(allCores(machine), process.pid);
  }
}

/** Runs `work` while these processes have the scheduling policy SCHED_IDLE. */
export async function yielding<T>(
  pids: readonly number[],
  machine: Machine,
  work: () => Promise<T>,
): Promise<T> {
  if (machine.serverCore === undefined) return work();
  try {
    for (const pid of pids) await schedule('--idle', pid);
    return await work();
  } finally {
    for (const pid of pids) await schedule('--other', pid);
  }
}

function otherCores({ cores, serverCore }: Machine): string {
  return Array.from({ length: cores }, (_, core) => core)
    .filter((core) => core !== serverCore)
    .join(',');
}

function allCores({ cores }: Machine): string {
  return `0-${cores - 1}`;
}

async function taskset(list: string, pid: number): Promise<void> {
  await promisify(execFile)('taskset', ['--all-tasks', '--cpu-list', '--pid', list, String(pid)]);
}

async function schedule(policy: '--idle' | '--other', pid: number): Promise<void> {
  await promisify(execFile)('chrt', ['--all-tasks', policy, '--pid', '0', String(pid)]);
}

/** Whether CPU affinity and scheduling policies can be set. */
async function canPin(): Promise<boolean> {
  return promisify(execFile)('taskset', ['--cpu-list', '0,1', 'chrt', '--other', '0', 'true']).then(
    () => true,
    () => false,
  );
}
