// What this server shows of itself to a log store, and whom it trusts there: out of files that may change at any time.
import { readFile, stat } from 'node:fs/promises';

export interface CredentialOptions {
  readonly username?: string;
  /** The password of `username`. */
  readonly passwordFile?: string;
  /** `id:key` in base64, in place of user and password. */
  readonly apiKeyFile?: string;
  /** A bearer token, in place of user and password. */
  readonly bearerTokenFile?: string;
  /** CA of the store's certificate, PEM; none: those that the system trusts. */
  readonly caFile?: string;
}

export interface Credentials {
  readonly authorization: string | undefined;
  readonly ca: string | undefined;
}

/** How long the files count as unchanged, in ms. */
const TRUSTED_MS = 1_000;

export class CredentialFiles {
  readonly #options: CredentialOptions;
  readonly #now: () => number;
  readonly #texts = new Map<string, { readonly version: string; readonly text: string }>();
  #current: Promise<Credentials> | undefined;
  #readAt = Number.NEGATIVE_INFINITY;

  /** `now` is a monotonic clock in ms. */
  constructor(options: CredentialOptions, now: () => number) {
    this.#options = options;
    this.#now = now;
  }

  /** Rejects when a file can not be read; the next call reads it again. */
  read(): Promise<Credentials> {
    if (this.#current && this.#now() - this.#readAt < TRUSTED_MS) return this.#current;
    this.#readAt = this.#now();
    const reading = this.#readAll();
    this.#current = reading;
    reading.catch(() => {
      if (this.#current === reading) this.#current = undefined;
    });
    return reading;
  }

  async #readAll(): Promise<Credentials> {
    const ca = await this.#text(this.#options.caFile);
    return { ca, authorization: await this.#authorization() };
  }

  async #authorization(): Promise<string | undefined> {
    const { username = '', passwordFile, apiKeyFile, bearerTokenFile } = this.#options;
    const apiKey = await this.#text(apiKeyFile);
    if (apiKey !== undefined) return `ApiKey ${apiKey.trim()}`;
    const token = await this.#text(bearerTokenFile);
    if (token !== undefined) return `Bearer ${token.trim()}`;
    if (username === '') return undefined;
    // Editors end a file with a newline; a password may end with spaces.
    const password = ((await this.#text(passwordFile)) ?? '').replace(/\r?\n$/, '');
    return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  }

  /** Undefined for no file. */
  async #text(path = ''): Promise<string | undefined> {
    if (path === '') return undefined;
    const { mtimeMs, size, ino } = await stat(path);
    const version = `${mtimeMs} ${size} ${ino}`;
    const known = this.#texts.get(path);
    if (known?.version === version) return known.text;
    const text = await readFile(path, 'utf8');
    this.#texts.set(path, { version, text });
    return text;
  }
}
