// Readers of the files that options and flags name.
import { closeSync, constants, openSync, readFileSync, readSync, statSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { codeOf } from '../../apis/reading/thrown-value.ts';
import { hasCertificate } from './pem-certificates.ts';

/**
 * Reads a text file. Throws for a pipe without a writer, too: opening it would wait without a limit, and the process could not exit
 * meanwhile.
 */
export async function readTextFile(path: string): Promise<string> {
  if ((await stat(path)).isFIFO()) throw new FileContentError('ERR_PIPE', `${path}: it is a pipe`);
  return readFile(path, 'utf8');
}

/**
 * Reads a file that can be a pipe, such as that of `<(command)` in a shell: the configuration or a kubeconfig. Throws for a pipe to which
 * no program writes within `waitMs`.
 */
export function readFileOrPipe(
  path: string,
  waitMs = WAIT_MS,
): { readonly text: string; readonly isPipe: boolean } {
  if (!statSync(path).isFIFO()) return { text: readFileSync(path, 'utf8'), isPipe: false };
  // Opening it does not wait for a writer.
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    return { text: readPipe(fd, path, performance.now() + waitMs), isPipe: true };
  } finally {
    closeSync(fd);
  }
}

const WAIT_MS = 5_000;
const POLL_MS = 10;

/** `deadline`: for the first byte, while the pipe has no writer. */
function readPipe(fd: number, path: string, deadline: number): string {
  const chunks: Buffer[] = [];
  for (;;) {
    const chunk = readChunk(fd);
    if (chunk && chunk.length > 0) {
      chunks.push(chunk);
      continue;
    }
    if (chunk && chunks.length > 0) return Buffer.concat(chunks).toString();
    if (chunk && performance.now() > deadline) {
      throw new FileContentError('ERR_SILENT_PIPE', `${path}: it is a pipe to which no program writes`);
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, POLL_MS);
  }
}

/** Empty without a writer; undefined while the writer has written nothing more. */
function readChunk(fd: number): Buffer | undefined {
  const chunk = Buffer.alloc(64 << 10);
  try {
    return chunk.subarray(0, readSync(fd, chunk));
  } catch (error) {
    if (codeOf(error) === 'EAGAIN') return undefined;
    throw error;
  }
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
