// Common parts of the HTTP connections to log stores: credentials and CA certificates from files, which are reloaded
// when they change, and the detection of a store that does not respond to any request.
import { readFile, stat } from 'node:fs/promises';
import { describeFileError } from '../../cluster/connection/file-error.ts';
import { UnfitOptionError } from '../configuration-errors.ts';

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

  /** Returns the current credentials. Rejects with UnfitOptionError; the next call then reads the files again. */
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
      new UnfitOptionError(`logging.${this.#store}.${option}`, reason, undefined, path);
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

/**
 * Longer than the interval, timeout and grace of health checks together (15 s, 5 s and 1 s in store-health.ts). A store that
 * is only slow with one query has responded to a health check within this time.
 */
const UNRESPONSIVE_MS = 22_000;

/** Time since the last response of a log store to any request. It distinguishes an unresponsive store from a slow query. */
export class Silence {
  readonly #now: () => number;
  /** Time of the first request since the last response. */
  #since: number | undefined;

  /** `now`: a clock in ms. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Time in ms without a response; 0 while the store may only be slow. */
  get ms(): number {
    const ms = this.#since === undefined ? 0 : this.#now() - this.#since;
    return ms < UNRESPONSIVE_MS ? 0 : ms;
  }

  requestSent(): void {
    this.#since ??= this.#now();
  }

  responded(): void {
    this.#since = undefined;
  }
}
