// Writes the shell file with environment variables for the examples in docs/.
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { shellWord } from '../terminal/shell-word.ts';
import type { DevelopmentServer } from './development-server.ts';

interface ShellEnvironment {
  readonly server: Pick<DevelopmentServer, 'caFile' | 'ports'>;
  readonly kubeconfig: string;
  /** The kubectl that was built with the control plane; undefined to use the one in the user's PATH. */
  readonly kubectl?: string;
  /** Folder with kubelogin, which is used if the user has not installed it. */
  readonly kubelogin?: string;
}

/** Writes `env` into the folder and returns the command that loads it. */
export async function writeEnvironmentFile(folder: string, environment: ShellEnvironment): Promise<string> {
  const file = join(folder, 'env');
  await writeFile(file, environmentFile(environment));
  return `. ${shellWord(file)}`;
}

function environmentFile({ server, kubeconfig, kubectl, kubelogin }: ShellEnvironment): string {
  return [
    '# Written by npm start, for the examples of the documents.',
    `export BASE=https://127.0.0.1:${server.ports.secure}`,
    `export CA=${shellWord(server.caFile)}`,
    `export KUBECONFIG=${shellWord(kubeconfig)}`,
    ...(kubectl === undefined ? [] : [`export PATH=${shellWord(dirname(kubectl))}:"$PATH"`]),
    ...(kubelogin === undefined ? [] : [`export PATH="$PATH":${shellWord(kubelogin)}`]),
    // curl sends requests for loopback addresses to a configured proxy as well.
    // oxlint-disable-next-line no-template-curly-in-string
    'export no_proxy="127.0.0.1${no_proxy:+,$no_proxy}"',
    '',
  ].join('\n');
}
