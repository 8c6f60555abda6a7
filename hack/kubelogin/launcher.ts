// Launcher of kubelogin for the examples of `npm start`: it builds kubelogin at the first call, because few people need it.
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { KUBELOGIN } from '../../apis/oauth/kubelogin-kubeconfig.ts';
import { shellWord } from '../terminal/shell-word.ts';

/** Writes the launcher under the name of the plugin; returns the folder. */
export async function writeLauncher(folder: string): Promise<string> {
  const file = join(folder, KUBELOGIN);
  const program = [process.execPath, join(import.meta.dirname, 'run.ts')].map(shellWord).join(' ');
  await mkdir(folder, { recursive: true });
  await writeFile(file, `#!/bin/sh\nexec ${program} "$@"\n`);
  await chmod(file, 0o755);
  return folder;
}
