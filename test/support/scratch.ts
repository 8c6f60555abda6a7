// Creates temporary folders and scripts for tests.
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** Creates a temporary folder that is removed at the end of the scope. */
export async function scratchFolder(): Promise<AsyncDisposable & { path: string }> {
  const path = await mkdtemp(join(tmpdir(), 'scratch-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

/** Creates a temporary folder for each test of a group. Returns a function that returns its path. */
export function scratchFolderEach(): () => string {
  let path = '';
  beforeEach(async () => {
    path = await mkdtemp(join(tmpdir(), 'scratch-'));
  });
  afterEach(() => rm(path, { recursive: true, force: true }));
  return () => path;
}

/** Writes a program for /bin/sh and returns its path. */
export async function script(path: string, text: string): Promise<string> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, `#!/bin/sh\n${text}\n`);
  await chmod(path, 0o755);
  return path;
}

/** Creates a temporary folder with these programs for /bin/sh, and an environment whose PATH has only this folder. */
export async function machineWith(
  programs: Readonly<Record<string, string>>,
): Promise<AsyncDisposable & { path: string; env: NodeJS.ProcessEnv }> {
  const scratch = await scratchFolder();
  const { path } = scratch;
  for (const [name, text] of Object.entries(programs)) await script(join(path, name), text);
  return { ...scratch, env: { PATH: path, HOME: path, XDG_CACHE_HOME: join(path, 'cache') } };
}
