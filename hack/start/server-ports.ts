// Chooses the ports of the development server. The ports stay the same across runs of `npm start`.
import { readFile, writeFile } from 'node:fs/promises';
import { record } from '../../apis/reading/unknown-value.ts';
import { freeAgain, type PortState, stateOf } from '../system/ports.ts';

export interface ServerPorts {
  readonly secure: number;
  readonly insecure: number;
}

const CURES = {
  'in use': 'is in use: stop the program that listens on it',
  forbidden: 'is privileged: use a port above 1023',
} as const satisfies Record<Exclude<PortState, 'free'>, string>;

/** Throws if the requested port is not available. */
export async function requireFree(port: number, look = stateOf): Promise<void> {
  const state = await look(port);
  if (state !== 'free') throw new Error(`port ${port} ${CURES[state]}, or omit --port`);
}

/**
 * Chooses the ports of the server. Ports stay the same across starts while they are free, because the shell history of
 * users and the issuer of tokens contain them.
 */
export async function chooseServerPorts(file: string, requested: number | undefined): Promise<ServerPorts> {
  if (requested !== undefined) await requireFree(requested);
  const saved = await read(file);
  const secure = requested ?? (await freeAgain(saved.secure, new Set()));
  const insecure = await freeAgain(saved.insecure, new Set([secure]));
  await writeFile(file, JSON.stringify({ secure, insecure }));
  return { secure, insecure };
}

/** Returns no ports if the file is missing or invalid. */
async function read(file: string): Promise<Partial<ServerPorts>> {
  try {
    const { secure, insecure } = record(JSON.parse(await readFile(file, 'utf8')));
    return {
      ...(typeof secure === 'number' ? { secure } : {}),
      ...(typeof insecure === 'number' ? { insecure } : {}),
    };
  } catch {
    return {};
  }
}
