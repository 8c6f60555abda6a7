// Stores the CAs that sign the self-signed certificates, in memory or in a folder. Replicas can share a folder.
import { randomUUID } from 'node:crypto';
import { link, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { codeOf } from '../../../apis/reading/thrown-value.ts';
import { isRecord } from '../../../apis/reading/unknown-value.ts';
import type { KeyPair } from './certificate-authority.ts';

/** The CAs of a self-signing server, newest first. Older CAs stay in the list until they expire. */
export type Authorities = readonly KeyPair[];

export interface AuthorityStore {
  /** Returns undefined if no CA is stored. Throws if the stored CAs are unreadable, so that the caller does not replace them. */
  load(): Promise<Authorities | undefined>;
  /**
   * Replaces `previous`, the result of load(), by `next`. Returns the stored CAs: `next`, or the CAs of a concurrent writer that
   * was faster.
   */
  replace(previous: Authorities | undefined, next: Authorities): Promise<Authorities>;
}

/** Stores the CAs in memory. */
export class MemoryAuthorityStore implements AuthorityStore {
  #authorities: Authorities | undefined;

  async load(): Promise<Authorities | undefined> {
    return this.#authorities;
  }

  async replace(_previous: Authorities | undefined, next: Authorities): Promise<Authorities> {
    this.#authorities = next;
    return next;
  }
}

/** Stores the CAs with their keys in `serving-ca.json` (mode 0600), and the CA bundle for clients in `serving-ca.crt`. */
export class DirectoryAuthorityStore implements AuthorityStore {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  async load(): Promise<Authorities | undefined> {
    let text: string;
    try {
      text = await readFile(this.#file, 'utf8');
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return undefined;
      throw error;
    }
    return readAuthorities(parsed(text), this.#file);
  }

  async replace(previous: Authorities | undefined, next: Authorities): Promise<Authorities> {
    await makeFolder(this.#directory);
    const draft = join(this.#directory, `.serving-ca-${randomUUID()}`);
    await writeFile(draft, JSON.stringify(next), { mode: 0o600 });
    try {
      // link() fails when the file exists, rename() does not: the first of two concurrent starts wins.
      if (previous) await rename(draft, this.#file);
      else await link(draft, this.#file);
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
    } finally {
      await rm(draft, { force: true });
    }
    const kept = (await this.load()) ?? next;
    await this.#publish(kept);
    return kept;
  }

  get #file(): string {
    return join(this.#directory, 'serving-ca.json');
  }

  async #publish(authorities: Authorities): Promise<void> {
    const draft = join(this.#directory, `.serving-ca-${randomUUID()}`);
    await writeFile(draft, bundleOf(authorities), { mode: 0o644 });
    await rename(draft, join(this.#directory, 'serving-ca.crt'));
  }
}

/**
 * Creates a folder with its parents. Node's `recursive` option hangs, and blocks the exit of the process, where folders cannot be
 * created, for instance below /proc.
 */
async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return;
    const parent = dirname(path);
    if (codeOf(error) !== 'ENOENT' || parent === path) throw error;
    await makeFolder(parent);
    await mkdir(path, { mode: 0o700 }).catch((again: unknown) => {
      // Another process may have created it.
      if (codeOf(again) !== 'EEXIST') throw again;
    });
  }
}

/** The CA bundle for clients: the certificates of all CAs, PEM. */
export function bundleOf(authorities: Authorities): string {
  return authorities.map(({ certificate }) => `${certificate.trim()}\n`).join('');
}

/** Returns undefined for invalid JSON, because the error of the parser would quote the keys in the file. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function readAuthorities(value: unknown, file: string): Authorities {
  const authorities = Array.isArray(value) ? value.filter(isKeyPair) : [];
  if (authorities.length === 0) throw new Error(`${file} is invalid; remove it to create a new CA`);
  return authorities;
}

function isKeyPair(value: unknown): value is KeyPair {
  return isRecord(value) && typeof value['certificate'] === 'string' && typeof value['key'] === 'string';
}
