// Credentials and CA certificates for the connection to a log store, from files that are re-read when they change.
import { readFile, stat } from 'node:fs/promises';
import { describeFileError } from '../../cluster/connection/file-error.ts';
import { UnusableFileError } from '../configuration-errors.ts';

export interface CredentialOptions {
  readonly username?: string;
  /** The password of `username`. */
  readonly passwordFile?: string;
  /** `id:key` in base64, instead of user and password. */
  readonly apiKeyFile?: string;
  /** A bearer token, instead of user and password. */
  readonly bearerTokenFile?: string;
  /** CA of the store's certificate, PEM. Default: the CAs of the system. */
  readonly caFile?: string;
}

type FileOption = Exclude<keyof CredentialOptions, 'username'>;

export interface Credentials {
  readonly authorization: string | undefined;
  readonly ca: string | undefined;
}

/** Milliseconds between two checks of the files. */
const CHECK_MS = 1_000;

export class CredentialFiles {
  readonly #store: string;
  readonly #options: CredentialOptions;
  readonly #now: () => number;
  readonly #texts = new Map<string, { readonly version: string; readonly text: string }>();
  #current: Promise<Credentials> | undefined;
  #readAt = Number.NEGATIVE_INFINITY;

  /** `store`: the name of the store in the configuration. `now`: a monotonic clock in ms. */
  constructor(store: string, options: CredentialOptions, now: () => number) {
    this.#store = store;
    this.#options = options;
    this.#now = now;
  }

  /** Returns the current credentials. Rejects with UnusableFileError; the next call then reads the files again. */
  read(): Promise<Credentials> {
    if (this.#current && this.#now() - this.#readAt < CHECK_MS) return this.#current;
    this.#readAt = this.#now();
    const reading = this.#readAll();
    this.#current = reading;
    reading.catch(() => {
      if (this.#current === reading) this.#current = undefined;
    });
    return reading;
  }

  async #readAll(): Promise<Credentials> {
    const ca = await this.#text('caFile');
    return { ca, authorization: await this.#authorization() };
  }

  async #authorization(): Promise<string | undefined> {
    const { username = '' } = this.#options;
    const apiKey = await this.#text('apiKeyFile');
    if (apiKey !== undefined) return `ApiKey ${apiKey.trim()}`;
    const token = await this.#text('bearerTokenFile');
    if (token !== undefined) return `Bearer ${token.trim()}`;
    if (username === '') return undefined;
    // Editors append a newline; spaces may be part of the password.
    const password = ((await this.#text('passwordFile')) ?? '').replace(/\r?\n$/, '');
    return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  }

  /** Returns the text of a file; undefined when the option is not set. */
  async #text(option: FileOption): Promise<string | undefined> {
    const path = this.#options[option] ?? '';
    if (path === '') return undefined;
    const unusable = (reason: string) =>
      new UnusableFileError(`logging.${this.#store}.${option}`, path, reason);
    const text = await this.#read(path).catch((error: unknown) => {
      throw unusable(describeFileError(error));
    });
    if (text.trim() === '') throw unusable('it is empty');
    // Node accepts a file without certificates as a CA, and then rejects every server without a reason.
    if (option === 'caFile' && !text.includes(CERTIFICATE)) throw unusable('it contains no certificate');
    return text;
  }

  async #read(path: string): Promise<string> {
    const { mtimeMs, size, ino } = await stat(path);
    const version = `${mtimeMs} ${size} ${ino}`;
    const cached = this.#texts.get(path);
    if (cached?.version === version) return cached.text;
    const text = await readFile(path, 'utf8');
    this.#texts.set(path, { version, text });
    return text;
  }
}

const CERTIFICATE = '-----BEGIN CERTIFICATE-----';
