// Tunnel through the proxy of a kubeconfig (`proxy-url`): an HTTP CONNECT request, or SOCKS.
import { request as plainRequest } from 'node:http';
import { request as secureRequest } from 'node:https';
import type { Socket } from 'node:net';
import { SocksClient } from 'socks';

export interface TunnelTarget {
  readonly host: string;
  readonly port: number;
}

/** Opens a TCP connection to `target` through the proxy at `proxyUrl`. */
export async function openTunnel(
  proxyUrl: string,
  target: TunnelTarget,
  signal: AbortSignal,
): Promise<Socket> {
  const proxy = new URL(proxyUrl);
  const [user, password] = [proxy.username, proxy.password].map(decodeURIComponent);
  const host = proxy.hostname.replace(/^\[|\]$/g, '');
  if (!proxy.protocol.startsWith('socks')) {
    const credentials = user || password ? `${user}:${password}` : undefined;
    return connectThrough(proxy, host, target, credentials, signal);
  }
  const { socket } = await SocksClient.createConnection({
    command: 'connect',
    proxy: {
      host,
      port: Number(proxy.port) || 1080,
      type: proxy.protocol.startsWith('socks4') ? 4 : 5,
      ...(user ? { userId: user } : {}),
      ...(password ? { password } : {}),
    },
    destination: target,
  });
  return socket;
}

function connectThrough(
  { protocol, port }: URL,
  host: string,
  target: TunnelTarget,
  credentials: string | undefined,
  signal: AbortSignal,
): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const authority = `${target.host.includes(':') ? `[${target.host}]` : target.host}:${target.port}`;
  const authorization = `Basic ${Buffer.from(credentials ?? '').toString('base64')}`;
  const request = (protocol === 'https:' ? secureRequest : plainRequest)({
    method: 'CONNECT',
    host,
    port,
    path: authority,
    headers: {
      host: authority,
      ...(credentials === undefined ? {} : { 'proxy-authorization': authorization }),
    },
    agent: false,
    signal,
  });
  request.on('connect', ({ statusCode }, socket: Socket) => {
    if (statusCode === 200) return resolve(socket);
    socket.destroy();
    reject(new Error(`the proxy responded to CONNECT with status ${statusCode}`));
  });
  request.on('error', reject);
  request.end();
  return promise;
}
