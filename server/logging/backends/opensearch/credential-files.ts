// What this server shows of itself to OpenSearch, and whom it trusts there: out of files that may change at any time.
import { readFile, stat } from 'node:fs/promises';

export interface CredentialOptions {
  readonly username?: string;
  /** The password of `username`. */
  readonly passwordFile?: string;
  /** `id:key` in base64, in place of user and password. */
  readonly apiKeyFile?: string;
  /** CA of the store's certificate, PEM; none: those that the system trusts. */
  readonly caFile?: string;
}

export interface Credentials {
  readonly authorization: string | undefined;
  readonly ca: string | undefined;
}

/** How long a file counts as unchanged, in ms. */
const TRUSTED_MS = 1_000;

export class CredentialFiles {
  readonly #options: CredentialOptions;
  readonly #now: () => number;
  readonly #files = new Map<string, { readonly version: string; readonly text: string }>();
  #checkedAt = Number.NEGATIVE_INFINITY;
  #current: Promise<Credentials> | undefined;

  constructor(options: CredentialOptions, now: () => number) {
    this.#options = options;
    this.#now = now;
  }

  /** Rejects when a file can not be read. */
  read(): Promise<Credentials> {
    if (this.#current && this.#now() - this.#checkedAt < TRUSTED_MS) return this.#current;
    this.#checkedAt = this.#now();
    this.#current = this.#readAll();
    // The next one reads again; whoever waits for this one learns why it failed.
    this.#current.catch(() => {
      this.#current = undefined;
    });
    return this.#current;
  }

  async #readAll(): Promise<Credentials> {
    const { username = '', passwordFile = '', apiKeyFile = '', caFile = '' } = this.#options;
    const ca = caFile === '' ? undefined : await this.#text(caFile);
    if (apiKeyFile !== '') return { ca, authorization: `ApiKey ${(await this.#text(apiKeyFile)).trim()}` };
    if (username === '') return { ca, authorization: undefined };
    const password = passwordFile === '' ? '' : (await this.#text(passwordFile)).replace(/\r?\n$/, '');
    return { ca, authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` };
  }

  async #text(path: string): Promise<string> {
    const { mtimeMs, size, ino } = await stat(path);
    const version = `${mtimeMs} ${size} ${ino}`;
    const known = this.#files.get(path);
    if (known?.version === version) return known.text;
    const text = await readFile(path, 'utf8');
    this.#files.set(path, { version, text });
    return text;
  }
}
