// Streams of the soak test: watches, live lists and tails by HTTP, and exec and port-forward by WebSocket. They are
// dropped without a close, as by a client that crashes.
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { WebSocket } from 'ws';
import { Client } from '../control-plane/client.ts';

export interface StreamTarget {
  readonly url: string;
  /** PEM. */
  readonly ca: string;
  readonly token: string;
  readonly signal: AbortSignal;
}

export interface Stream {
  /** Rejects when the stream ends. */
  readonly ended: Promise<never>;
  readonly drop: () => void;
}

/** Resolves with the first data of a response; rejects unless the status is 200. */
export async function openStream(
  target: StreamTarget,
  path: string,
  accept = 'application/json',
): Promise<Stream> {
  const { url, ca, token, signal } = target;
  const client = new Client(url, { ca }, 1);
  const response = await client.open(path, { accept, token, signal });
  const ended = endOf(response, path);
  const drop = (): void => {
    response.destroy();
    client.close();
  };
  if (response.statusCode !== 200) {
    drop();
    throw new Error(`${path}: ${response.statusCode}`);
  }
  await Promise.race([new Promise((resolve) => response.on('data', resolve)), ended]);
  return { ended, drop };
}

/** Opens a subresource of a pod; resolves when the text that was sent on channel 0 has come back on channel `from`. */
export async function openEcho(target: StreamTarget, path: string, from: number): Promise<Stream> {
  const { url, ca, token, signal } = target;
  const headers = { Authorization: `Bearer ${token}` };
  const socket = new WebSocket(new URL(path, url.replace('https', 'wss')), ['v4.channel.k8s.io'], {
    ca,
    headers,
  });
  const drop = (): void => socket.terminate();
  signal.addEventListener('abort', drop, { once: true });
  const ended = endOf(socket, path);
  socket.once('open', () => socket.send(Buffer.from('\0hello')));
  const echoed = new Promise<void>((resolve) => {
    socket.on('message', (data: Buffer) => {
      if (data[0] === from && data.includes('hello')) resolve();
    });
  });
  await Promise.race([echoed, ended]).catch((error: unknown) => {
    drop();
    throw error;
  });
  return { ended, drop };
}

function endOf(stream: IncomingMessage | WebSocket, path: string): Promise<never> {
  const ended = once(stream, 'close').then(() => {
    throw new Error(`${path}: ended by the server`);
  });
  ended.catch(() => undefined);
  stream.on('error', () => undefined);
  return ended;
}
