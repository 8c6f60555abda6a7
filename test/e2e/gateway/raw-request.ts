// Sends one HTTP/1.1 request as given bytes over TLS, and reads the whole response. No library changes its path or its
// headers.
import { once } from 'node:events';
import { connect, type TLSSocket } from 'node:tls';

export interface RawTarget {
  readonly port: number;
  readonly ca: string;
  /** Client certificate and key, PEM. */
  readonly cert?: string;
  readonly key?: string;
}

export interface RawResponse {
  readonly status: number;
  /** The reason phrase. */
  readonly reason: string;
  /** Names in lower case and values, in the order of the response. */
  readonly headers: readonly (readonly [string, string])[];
  /** Decoded from chunks. */
  readonly body: Buffer;
}

/** Returns `hit` for a response from a cache of the gateway, else the reason in the header Cache-Status. */
export function cacheResult({ headers }: RawResponse): string | undefined {
  const value = headers.find(([name]) => name === 'cache-status')?.[1];
  return value?.includes('; hit') ? 'hit' : value?.replace(/^.*detail=/, '');
}

/** Returns true for a response from a cache of the gateway. */
export function isHit(response: RawResponse): boolean {
  return cacheResult(response) === 'hit';
}

/** Opens a TLS connection to 127.0.0.1. */
export async function openTLS({ port, ca, cert, key }: RawTarget): Promise<TLSSocket> {
  const socket = connect({
    host: '127.0.0.1',
    port,
    ca,
    servername: 'localhost',
    ...(cert ? { cert, key } : {}),
  });
  await once(socket, 'secureConnect');
  return socket;
}

/** `lines`: the request line and the headers without Host and Connection. `opened`: called at the first byte of the response. */
export async function rawRequest(
  target: RawTarget,
  lines: readonly string[],
  body: Buffer | string = '',
  opened: () => void = () => undefined,
): Promise<RawResponse> {
  const [first = '', ...headers] = lines;
  const socket = await openTLS(target);
  const all = [first, `Host: 127.0.0.1:${target.port}`, ...headers];
  if (!headers.some((line) => /^connection:/i.test(line))) all.push('Connection: close');
  socket.write(Buffer.concat([Buffer.from(`${all.join('\r\n')}\r\n\r\n`, 'latin1'), Buffer.from(body)]));
  socket.once('readable', opened);
  return readResponse(socket);
}

/** Sends a request, and resolves with the beginning of the response. `lines`: without Host. */
export async function openStream(
  target: RawTarget,
  [first = '', ...headers]: readonly string[],
): Promise<{ readonly response: RawResponse; readonly socket: TLSSocket; readonly ended: Promise<unknown> }> {
  const socket = await openTLS(target);
  const ended = once(socket, 'close');
  socket.on('error', () => socket.destroy());
  socket.write(`${[first, `Host: 127.0.0.1:${target.port}`, ...headers].join('\r\n')}\r\n\r\n`, 'latin1');
  const [bytes] = (await once(socket, 'data')) as [Buffer];
  return { response: parseResponse(bytes), socket: socket.resume(), ended };
}

/** Reads one response, and destroys the socket. */
async function readResponse(socket: TLSSocket): Promise<RawResponse> {
  const chunks: Buffer[] = [];
  let head = Buffer.alloc(0);
  let received = 0;
  for await (const chunk of socket) {
    chunks.push(chunk as Buffer);
    received += (chunk as Buffer).length;
    if (!head.includes('\r\n\r\n')) head = Buffer.concat(chunks);
    if (isComplete(head, received, Buffer.concat(chunks.slice(-2)))) break;
  }
  socket.destroy();
  return parseResponse(Buffer.concat(chunks));
}

/** Parses a response. A response with status 100 before it is skipped. */
export function parseResponse(bytes: Buffer): RawResponse {
  const end = bytes.indexOf('\r\n\r\n');
  const [first = '', ...lines] = bytes.subarray(0, Math.max(end, 0)).toString('latin1').split('\r\n');
  const status = Number(first.split(' ')[1]);
  const reason = first.split(' ').slice(2).join(' ');
  const rest = bytes.subarray(end + 4);
  if (status === 100) return parseResponse(rest);
  const headers = lines.map((line): [string, string] => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
  });
  const chunked = headers.some(([name, value]) => name === 'transfer-encoding' && value === 'chunked');
  return { status, reason, headers, body: chunked ? unchunked(rest) : rest };
}

/** The connection may stay open after a complete response. `head`: at least the headers; `tail`: the last bytes. */
function isComplete(head: Buffer, received: number, tail: Buffer): boolean {
  const end = head.indexOf('\r\n\r\n');
  if (end < 0) return false;
  const { status, headers, body } = parseResponse(head);
  if (Number.isNaN(status)) return false;
  const length = headers.find(([name]) => name === 'content-length')?.[1];
  if (length !== undefined) return body.length + received - head.length >= Number(length);
  return (
    headers.some(([name]) => name === 'transfer-encoding') &&
    tail.subarray(-7).toString('latin1') === '\r\n0\r\n\r\n'
  );
}

function unchunked(bytes: Buffer): Buffer {
  const chunks: Buffer[] = [];
  for (let at = 0; ; ) {
    const end = bytes.indexOf('\r\n', at);
    const size = end < 0 ? 0 : Number.parseInt(bytes.subarray(at, end).toString('latin1'), 16);
    if (!(size > 0)) return Buffer.concat(chunks);
    chunks.push(bytes.subarray(end + 2, end + 2 + size));
    at = end + 2 + size + 2;
  }
}
