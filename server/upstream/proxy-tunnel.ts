// Tunnel through the proxy of a kubeconfig (`proxy-url`): an HTTP CONNECT request, or SOCKS.
import { once } from 'node:events';
import { request as secureRequest } from 'node:https';
import { connect, type Socket } from 'node:net';
import { type Address, addressOf, basicAuthorization } from './address.ts';

// Not an import, which would also load the undici of Node.
const http = process.getBuiltinModule('node:http');

/** Opens a TCP connection to `target` through the proxy at `proxyUrl`. */
export function openTunnel(proxyUrl: string, target: Address, signal: AbortSignal): Promise<Socket> {
  const proxy = new URL(proxyUrl);
  const [user = '', password = ''] = [proxy.username, proxy.password].map(decodeURIComponent);
  return proxy.protocol.startsWith('socks')
    ? throughSocks(proxy, target, { user, password }, signal)
    : throughHTTP(proxy, target, user || password ? `${user}:${password}` : undefined, signal);
}

/** On a socket of our own, because the library ignores signals. */
async function throughSocks(
  proxy: URL,
  { host, port }: Address,
  { user, password }: { readonly user: string; readonly password: string },
  signal: AbortSignal,
): Promise<Socket> {
  // Few kubeconfigs have such a proxy.
  const { SocksClient } = await import('socks');
  signal.throwIfAborted();
  const address = addressOf(proxy);
  const socket = connect({ host: address.host, port: address.port });
  const aborted = (): void => void socket.destroy();
  signal.addEventListener('abort', aborted, { once: true });
  try {
    await once(socket, 'connect', { signal });
    await SocksClient.createConnection({
      command: 'connect',
      existing_socket: socket,
      proxy: {
        host: address.host,
        port: address.port,
        type: proxy.protocol.startsWith('socks4') ? 4 : 5,
        ...(user ? { userId: user } : {}),
        ...(password ? { password } : {}),
      },
      destination: { host, port },
    });
    return socket;
  } catch (error) {
    socket.on('error', () => undefined).destroy();
    signal.throwIfAborted();
    throw error;
  } finally {
    signal.removeEventListener('abort', aborted);
  }
}

function throughHTTP(
  proxy: URL,
  { authority }: Address,
  credentials: string | undefined,
  signal: AbortSignal,
): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const { host, port } = addressOf(proxy);
  const request = (proxy.protocol === 'https:' ? secureRequest : http.request)({
    method: 'CONNECT',
    host,
    port,
    path: authority,
    headers: {
      host: authority,
      ...(credentials === undefined ? {} : { 'proxy-authorization': basicAuthorization(credentials) }),
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
