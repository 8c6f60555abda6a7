// The folder of one run: everything that its tests create lies here and goes with it, even after a crash.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { messageOf } from '../../apis/reading/thrown-value.ts';

const PROBE_BYTES = 1 << 20;
const CURE = 'make room there, or set TMPDIR to a folder that has it';

/** Throws, with the cure, where none can be made. */
export async function newScratch(name: string): Promise<string> {
  try {
    return await mkdtemp(join(tmpdir(), `ks-${name}-`));
  } catch (cause) {
    throw new Error(`there is no folder for what tests write (${messageOf(cause)}): ${CURE}`, { cause });
  }
}

/** Why nothing can be written there any more; undefined while it can. */
export async function faultOf(scratch: string): Promise<string | undefined> {
  const probe = join(scratch, 'probe');
  try {
    await writeFile(probe, Buffer.alloc(PROBE_BYTES));
    return undefined;
  } catch (error) {
    return `what tests write finds no place (${messageOf(error)}): ${CURE}`;
  } finally {
    await rm(probe, { force: true });
  }
}
