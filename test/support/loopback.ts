// Starts and stops test servers on loopback ports.
import { once } from 'node:events';
import type { Server as HttpServer } from 'node:http';
import type { Server as HttpsServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';

/** Listens and resolves with the port; by default a free one. */
export async function listenOnLoopback(server: Server, port = 0): Promise<number> {
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return portOf(server);
}

export function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

/** Closes the server and its connections without waiting for requests in flight. */
export async function closeNow(server: HttpServer | HttpsServer): Promise<void> {
  server.close();
  server.closeAllConnections();
  await once(server, 'close');
}
