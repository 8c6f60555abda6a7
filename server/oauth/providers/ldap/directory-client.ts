// Client of one connection to a directory, on top of ldapts. It never reconnects, because ldapts would send the next operation without
// the bind, and without TLS after StartTLS. The responses are bounded.
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { Client, type Filter, PasswordPolicyControl, ResultCodeError } from 'ldapts';
import { DirectoryEntry } from './directory-entry.ts';
import { DirectoryStream } from './directory-stream.ts';

export interface Search {
  readonly base: string;
  readonly scope: 'base' | 'sub';
  readonly filter: Filter;
  readonly attributes: readonly string[];
  /** Attributes with binary values. */
  readonly binary?: readonly string[];
  /** Maximum number of entries. The result may have one more, which shows that there are more. */
  readonly limit: number;
}

/** The result of a bind. */
export interface BindResult {
  /** Result code (RFC 4511, 4.1.9); 0 for success. */
  readonly code: number;
  readonly message: string;
  /** The error of the password policy (draft-behera-ldap-password-policy), also of a successful bind. */
  readonly policyError: number | undefined;
}

/** Servers limit the size of a page, Active Directory to 1000 entries. */
const PAGE = 500;

export class DirectoryClient implements Disposable {
  readonly #socket: TLSSocket;
  readonly #client: Client;
  readonly #signal: AbortSignal;
  readonly #abort: () => void;

  /** Aborting `signal` closes the connection. */
  constructor(socket: TLSSocket, signal: AbortSignal) {
    this.#socket = socket;
    this.#signal = signal;
    let isUsed = false;
    this.#client = new Client({
      // The URL has no effect: the connection exists already, and is encrypted.
      url: 'ldap://directory',
      createConnection: () => {
        if (isUsed) throw new Error('the connection to the directory was closed');
        isUsed = true;
        const stream: Duplex = new DirectoryStream(socket);
        return stream as Socket;
      },
    });
    this.#abort = () => socket.destroy();
    signal.addEventListener('abort', this.#abort, { once: true });
  }

  [Symbol.dispose](): void {
    this.#signal.removeEventListener('abort', this.#abort);
    this.#socket.destroy();
  }

  /** `name`: a DN. Throws without a response. */
  async bind(name: string, password: string): Promise<BindResult> {
    // RFC 4513, 5.1: a bind without name or password succeeds without proof. ldapts takes a name without "=" for a SASL mechanism.
    if (password === '' || password.includes('\0') || !name.includes('=')) {
      throw new Error('a bind needs a DN and a password');
    }
    const policy = new PasswordPolicyControl();
    try {
      await this.#client.bind(name, password, policy);
      return { code: 0, message: '', policyError: policy.value?.error };
    } catch (error) {
      if (!(error instanceof ResultCodeError)) throw error;
      return { code: error.code, message: error.message, policyError: policy.value?.error };
    }
  }

  /** Ignores references to other servers. Throws ResultCodeError, or another error without a response. */
  async search({
    base,
    scope,
    filter,
    attributes,
    binary,
    limit,
  }: Search): Promise<readonly DirectoryEntry[]> {
    const entries: DirectoryEntry[] = [];
    const options = {
      scope,
      filter,
      attributes: [...attributes],
      explicitBufferAttributes: [...(binary ?? [])],
    };
    const add = (found: Awaited<ReturnType<Client['search']>>): void => {
      for (const entry of found.searchEntries) entries.push(new DirectoryEntry(entry));
    };
    if (limit < PAGE) {
      add(await this.#client.search(base, { ...options, sizeLimit: limit + 1 }));
      return entries;
    }
    for await (const page of this.#client.searchPaginated(base, { ...options, paged: { pageSize: PAGE } })) {
      add(page);
      if (entries.length > limit) break;
    }
    return entries;
  }
}
