// Client of one connection to a directory, on top of ldapts. It never reconnects, because ldapts would send the next operation without
// the bind, and without TLS after StartTLS. The size of responses and the number of entries are bounded.
import type { TLSSocket } from 'node:tls';
import { Client, type Filter, PasswordPolicyControl, ResultCodeError } from 'ldapts';
import { messageLength } from './directory-connection.ts';
import { DirectoryEntry } from './directory-entry.ts';

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

/** Enough for ten thousand groups with long names. */
const MAX_RESPONSE_BYTES = 16 << 20;
/** More than all entries of a sign-in. An empty one has eleven bytes, but takes two hundred in memory. */
const MAX_MESSAGES = 100_000;
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
        const received = new Received();
        socket.on('data', (chunk: Buffer) => {
          if (!received.isBoundedWith(chunk)) socket.destroy();
        });
        return socket;
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

/** What a directory has sent. */
class Received {
  #bytes = 0;
  #messages = 0;
  /** The header of the current message, while it is incomplete. */
  #head: number[] = [];
  /** Bytes of the current message that are missing. */
  #missing = 0;

  /** Returns false beyond the limits, and for bytes that are not LDAP. */
  isBoundedWith(chunk: Buffer): boolean {
    this.#bytes += chunk.length;
    if (this.#bytes > MAX_RESPONSE_BYTES) return false;
    try {
      for (let at = 0; at < chunk.length; ) {
        const skipped = Math.min(this.#missing, chunk.length - at);
        this.#missing -= skipped;
        at += skipped;
        const byte = chunk[at++];
        if (byte !== undefined) this.#readHead(byte);
      }
    } catch {
      return false;
    }
    return this.#messages <= MAX_MESSAGES;
  }

  #readHead(byte: number): void {
    this.#head.push(byte);
    const length = messageLength(Buffer.from(this.#head));
    if (length === undefined) return;
    this.#missing = length - this.#head.length;
    this.#head = [];
    this.#messages++;
  }
}
