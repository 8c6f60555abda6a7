// Encrypted connection to a directory server: LDAPS, or StartTLS (RFC 4511, 4.14). Nothing but the StartTLS request is sent before
// TLS is established, and nothing that was received before it is used afterwards.
import { once } from 'node:events';
import { connect as connectTCP, isIP, type Socket } from 'node:net';
import { connect as connectTLS, type TLSSocket } from 'node:tls';
import { BerReader } from 'ldapts';
import { boundedSignal } from '../../../concurrency/bounded-signal.ts';

interface DirectoryAddress {
  readonly host: string;
  readonly port: number;
}

interface ConnectionOptions {
  readonly tls: 'ldaps' | 'startTLS';
  /** CA certificates in PEM; undefined for those of Node.js. */
  readonly ca: string | undefined;
  /** Covers name resolution, TCP and TLS. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** ExtendedRequest with message id 1 and the name 1.3.6.1.4.1.1466.20037. */
const START_TLS = Buffer.concat([
  Buffer.from([0x30, 0x1d, 0x02, 0x01, 0x01, 0x77, 0x18, 0x80, 0x16]),
  Buffer.from('1.3.6.1.4.1.1466.20037'),
]);
const EXTENDED_RESPONSE = 0x78;
const MAX_RESPONSE = 4096;

/** `host`, `host:port` or `[IPv6]:port`. */
export function parseAddress(text: string, tls: ConnectionOptions['tls']): DirectoryAddress {
  const { hostname, port } = new URL(`ldap://${text}`);
  const host = hostname.replace(/^\[|\]$/g, '');
  return { host, port: port === '' ? (tls === 'ldaps' ? 636 : 389) : Number(port) };
}

/** Throws when the server is unreachable or its certificate is not valid for the host. */
export async function connectDirectory(
  { host, port }: DirectoryAddress,
  { tls, ca, timeoutMs, signal }: ConnectionOptions,
): Promise<TLSSocket> {
  using bounded = boundedSignal(signal, timeoutMs);
  const ending = bounded.signal;
  const tcp = connectTCP({ host, port });
  // An error after the rejection would otherwise end the process.
  tcp.on('error', ignored);
  try {
    await once(tcp, 'connect', { signal: ending });
    if (tls === 'startTLS') await startTLS(tcp, ending);
    // A server name must not be an address (RFC 6066, 3). `host` is what the certificate is compared with.
    const secure = connectTLS({
      socket: tcp,
      host,
      ...(isIP(host) === 0 ? { servername: host } : {}),
      ...(ca === undefined ? {} : { ca }),
      minVersion: 'TLSv1.2',
    });
    secure.on('error', ignored);
    await once(secure, 'secureConnect', { signal: ending });
    return secure;
  } catch (error) {
    tcp.destroy();
    signal.throwIfAborted();
    throw ending.aborted ? new Error(`no connection within ${timeoutMs} ms`, { cause: error }) : error;
  }
}

const ignored = (): void => undefined;

/**
 * A response that is followed by further bytes is rejected: an attacker on the network could send bytes in plain text that a reader
 * would take for the beginning of the encrypted stream.
 */
async function startTLS(tcp: Socket, signal: AbortSignal): Promise<void> {
  tcp.write(START_TLS);
  let received = Buffer.alloc(0);
  while (true) {
    const [chunk] = (await once(tcp, 'data', { signal })) as [Buffer];
    received = Buffer.concat([received, chunk]);
    if (received.length > MAX_RESPONSE) throw new Error('the response to StartTLS is too long');
    const length = messageLength(received);
    if (length === undefined || received.length < length) continue;
    if (received.length > length) throw new Error('the server sent data between StartTLS and TLS');
    break;
  }
  tcp.pause();
  const reader = new BerReader(received);
  reader.readSequence();
  const id = reader.readInt();
  const operation = reader.readSequence();
  const result = reader.readEnumeration();
  if (id !== 1 || operation !== EXTENDED_RESPONSE || result !== 0) {
    throw new Error(`the server refuses StartTLS (result code ${result})`);
  }
}

/** Length of the first message with its header; undefined while the header is incomplete. Throws for another encoding. */
export function messageLength(bytes: Buffer): number | undefined {
  const [tag, first] = bytes;
  if (tag === undefined || first === undefined) return undefined;
  if (tag !== 0x30) throw new Error('the response is not LDAP');
  if (first < 0x80) return 2 + first;
  const octets = first & 0x7f;
  if (octets === 0 || octets > 4) throw new Error('the length of the response is not LDAP');
  return bytes.length < 2 + octets ? undefined : 2 + octets + bytes.readUIntBE(2, octets);
}
