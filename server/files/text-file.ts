// Readers of the files that options name.
import { readFile, stat } from 'node:fs/promises';
import { hasCertificate } from './pem-certificates.ts';

/**
 * Reads a text file. Throws for a pipe without a writer, too: opening it would wait without a limit, and the process could not exit
 * meanwhile.
 */
export async function readTextFile(path: string): Promise<string> {
  if ((await stat(path)).isFIFO()) throw new FileContentError('ERR_PIPE', `${path}: it is a pipe`);
  return readFile(path, 'utf8');
}

/** Reads a CA bundle. Throws for a file without certificates. */
export async function readCAFile(path: string): Promise<string> {
  const text = await readTextFile(path);
  if (hasCertificate(text)) return text;
  throw new FileContentError('ERR_NO_CERTIFICATE', `${path}: it contains no certificate`);
}

class FileContentError extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}
