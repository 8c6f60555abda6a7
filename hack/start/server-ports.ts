import { readFile, writeFile } from 'node:fs/promises';
import { record } from '../../apis/meta/v1/unknown-value.ts';
import { freePort, isFree } from '../control-plane/ports.ts';

export interface ServerPorts {
  readonly secure: number;
  readonly insecure: number;
}

/** Refuses a port that was asked for and cannot be had. */
export async function requireFree(port: number): Promise<void> {
  if (await isFree(port)) return;
  throw new Error(`port ${port} is in use: end the program that listens on it, or leave --port out`);
}

/**
 * The server's ports, kept across starts as long as they are free, because people have them in their shell's history
 * and tokens have them in their issuer. A port that was asked for is taken or refused.
 */
export async function chooseServerPorts(file: string, requested: number | undefined): Promise<ServerPorts> {
  if (requested !== undefined) await requireFree(requested);
  const remembered = await read(file);
  const secure = requested ?? (await again(remembered.secure, new Set()));
  const insecure = await again(remembered.insecure, new Set([secure]));
  await writeFile(file, JSON.stringify({ secure, insecure }));
  return { secure, insecure };
}

async function again(port: number | undefined, taken: ReadonlySet<number>): Promise<number> {
  return port !== undefined && !taken.has(port) && (await isFree(port)) ? port : freePort(taken);
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
