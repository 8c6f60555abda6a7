// What this server shows of itself to VictoriaLogs, and whom it trusts there: out of files that may change at any time.
import { readFile, stat } from 'node:fs/promises';

export interface CredentialOptions {
  readonly username?: string;
  /** The password of `username`. */
  readonly passwordFile?: string;
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

  constructor(options: CredentialOptions, now: () => number) {
    this.#options = options;
    this.#now = now;
  }

  /** Rejects when a file can not be read. */
  get(): Promise<Credentials> {
    if (this.#current && this.#now() - this.#readAt < TRUSTED_MS) return this.#current;
    this.#readAt = this.#now();
    const reading = this.#read();
    this.#current = reading;
    reading.catch(() => {
      if (this.#current === reading) this.#current = undefined;
    });
    return reading;
  }

  async #read(): Promise<Credentials> {
    const { username = '', passwordFile = '', bearerTokenFile = '', caFile = '' } = this.#options;
    const [ca, token, password] = await Promise.all(
      [caFile, bearerTokenFile, passwordFile].map((path) => this.#text(path)),
    );
    if (token !== undefined) return { ca, authorization: `Bearer ${token.trim()}` };
    if (username === '') return { ca, authorization: undefined };
    const pair = `${username}:${(password ?? '').replace(/\r?\n$/, '')}`;
    return { ca, authorization: `Basic ${Buffer.from(pair).toString('base64')}` };
  }

  /** Undefined for no file. */
  async #text(path: string): Promise<string | undefined> {
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
