import { randomUUID } from 'node:crypto';
import { link, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { codeOf } from '../../../apis/reading/thrown-value.ts';
import { isRecord } from '../../../apis/reading/unknown-value.ts';
import type { KeyPair } from './certificate-authority.ts';

/** The CAs of a self-signing server, the newest first; the one before it stays until its certificates are out of use. */
export type Authorities = readonly KeyPair[];

/** Stores the CAs, so that they outlive the process or are shared by replicas. */
export interface AuthorityStore {
  /** Undefined when there are none. Throws when they cannot be read; then none are made in their place. */
  load(): Promise<Authorities | undefined>;
  /**
   * Replaces `previous`, as load() returned it, by `next`. Returns what is stored in the end: the other writer's when that
   * one was faster.
   */
  replace(previous: Authorities | undefined, next: Authorities): Promise<Authorities>;
}

/** Keeps nothing: the CAs live and die with the process. */
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

/** Keeps the CAs in `serving-ca.json`, readable by us only, and their certificates for clients in `serving-ca.crt`. */
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
      // A link fails when the file exists, a rename does not: the first of two that start at once wins.
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
 * With all its parents. Not with mkdir's `recursive`: where a folder cannot hold others, below /proc for instance, that
 * never ends, and keeps the process from ending.
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
      // Somebody else may have made it meanwhile.
      if (codeOf(again) !== 'EEXIST') throw again;
    });
  }
}

/** The certificates of all CAs, PEM: what clients are to trust. */
export function bundleOf(authorities: Authorities): string {
  return authorities.map(({ certificate }) => `${certificate.trim()}\n`).join('');
}

/** Undefined when it is not JSON: the parser's message would quote the file, keys included. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function readAuthorities(value: unknown, file: string): Authorities {
  const authorities = Array.isArray(value) ? value.filter(isKeyPair) : [];
  if (authorities.length === 0) throw new Error(`${file} is broken; remove it to make a new CA`);
  return authorities;
}

function isKeyPair(value: unknown): value is KeyPair {
  return isRecord(value) && typeof value['certificate'] === 'string' && typeof value['key'] === 'string';
}
