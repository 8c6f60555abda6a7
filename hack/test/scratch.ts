// Creates the temporary folder of one test run. `npm test` removes the folder even after a crash of the tests.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { messageOf } from '../../apis/reading/thrown-value.ts';

const PROBE_BYTES = 1 << 20;
const CURE = 'free disk space there, or set TMPDIR to another folder';

/** Creates the folder. If that fails, throws an error that says what to change. */
export async function newScratch(name: string): Promise<string> {
  try {
    return await mkdtemp(join(tmpdir(), `ks-${name}-`));
  } catch (cause) {
    throw new Error(`no folder for temporary files (${messageOf(cause)}): ${CURE}`, { cause });
  }
}

/** The reason why the folder is not writable; undefined if it is. */
export async function unwritableReason(scratch: string): Promise<string | undefined> {
  const probe = join(scratch, 'probe');
  try {
    await writeFile(probe, Buffer.alloc(PROBE_BYTES));
    return undefined;
  } catch (error) {
    return `temporary files cannot be written (${messageOf(error)}): ${CURE}`;
  } finally {
    await rm(probe, { force: true });
  }
}
