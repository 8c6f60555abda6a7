import { readFile, writeFile } from 'node:fs/promises';
import { record } from '../../apis/reading/unknown-value.ts';
import { freeAgain, type PortState, stateOf } from '../system/ports.ts';

export interface ServerPorts {
  readonly secure: number;
  readonly insecure: number;
}

const CURES = {
  'in use': 'is in use: end the program that listens on it',
  forbidden: 'may not be listened on by this user: take one above 1023',
} as const satisfies Record<Exclude<PortState, 'free'>, string>;

/** Refuses a port that was asked for and cannot be had. */
export async function requireFree(port: number, look = stateOf): Promise<void> {
  const state = await look(port);
  if (state !== 'free') throw new Error(`port ${port} ${CURES[state]}, or leave --port out`);
}

/**
 * The server's ports, kept across starts as long as they are free, because people have them in their shell's history
 * and tokens have them in their issuer. A port that was asked for is taken or refused.
 */
export async function chooseServerPorts(file: string, requested: number | undefined): Promise<ServerPorts> {
  if (requested !== undefined) await requireFree(requested);
  const remembered = await read(file);
  const secure = requested ?? (await freeAgain(remembered.secure, new Set()));
  const insecure = await freeAgain(remembered.insecure, new Set([secure]));
  await writeFile(file, JSON.stringify({ secure, insecure }));
  return { secure, insecure };
}

/** A missing or broken file means that nothing is remembered. */
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
