// GeneratedFile: the path and the generator function of a generated file, with functions that compare and write the
// file.
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { hasCode } from '../system/error-code.ts';

/** A generated file of the repository: its path and its generator function. */
export interface GeneratedFile {
  readonly path: string;
  /** The new text, given the current one (undefined if the file is missing). */
  text(present: string | undefined): string;
}

/** Whether the file on disk is out of date. */
export async function isStale(file: GeneratedFile): Promise<boolean> {
  const present = await readIfThere(file.path);
  return present !== file.text(present);
}

/** Writes the file if it is out of date; returns whether it was. */
export async function refresh(file: GeneratedFile): Promise<boolean> {
  const present = await readIfThere(file.path);
  const text = file.text(present);
  if (present === text) return false;
  await mkdir(dirname(file.path), { recursive: true });
  const next = `${file.path}.new`;
  await writeFile(next, text);
  await rename(next, file.path);
  return true;
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}
