// Locks the folder of a control plane. Only one process uses the folder at a time.
import { link, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { hasCode } from './error-code.ts';
import { signalGroup } from './process-group.ts';
import { identify, isRunning, readIdentity } from './process-identity.ts';

const OWNER = 'owner.json';

/**
 * Makes this process the owner of the control plane in the folder, and terminates programs of a dead owner. Returns a
 * function that releases the folder.
 */
export async function claimFolder(dir: string): Promise<() => Promise<void>> {
  const run = join(dir, 'run');
  await mkdir(run, { recursive: true });
  const file = join(run, OWNER);
  await claim(file, dir);
  await sweep(run);
  return () => rm(file, { force: true });
}

async function claim(file: string, dir: string): Promise<void> {
  const mine = `${file}.${process.pid}`;
  for (;;) {
    await writeFile(mine, JSON.stringify(identify(process.pid) ?? {}), { mode: 0o600 });
    try {
      await link(mine, file); // atomic, and fails if the file exists
      return;
    } catch (error) {
      if (!hasCode(error, 'EEXIST')) throw error;
    } finally {
      await rm(mine, { force: true });
    }
    const owner = await readRecord(file);
    if (owner !== undefined && isRunning(owner)) {
      throw new Error(`${dir} is used by process ${owner.pid}: stop that process first`);
    }
    await rm(file, { force: true });
  }
}

async function sweep(run: string): Promise<void> {
  for (const name of await readdir(run)) {
    if (name.startsWith(OWNER)) continue;
    const left = await readRecord(join(run, name));
    if (left !== undefined && isRunning(left)) {
      signalGroup(left.pid, 'SIGKILL');
      while (isRunning(left)) {
        await delay(20); // the exit of a process that is not a child can only be polled
      }
    }
    await rm(join(run, name), { force: true });
  }
}

async function readRecord(file: string): Promise<ReturnType<typeof readIdentity>> {
  try {
    return readIdentity(JSON.parse(await readFile(file, 'utf8')));
  } catch {
    return undefined;
  }
}
