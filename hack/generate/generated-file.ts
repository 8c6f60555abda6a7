import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { hasCode } from '../system/error-code.ts';

/** A file of the repository that is generated from other files. */
export interface GeneratedFile {
  readonly path: string;
  /** The whole new text, given the present one (undefined when there is none). */
  text(present: string | undefined): string;
}

/** Whether the file on disk differs from what it should be. */
export async function isStale(file: GeneratedFile): Promise<boolean> {
  const present = await readIfThere(file.path);
  return present !== file.text(present);
}

/** Writes the file when it differs; says whether it did. */
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
