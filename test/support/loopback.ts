// Servers of tests: on a free port of this machine, and gone with all their connections.
import { once } from 'node:events';
import type { Server as HttpServer } from 'node:http';
import type { Server as HttpsServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';

/** Resolves with the port; a free one when none is given. */
export async function listenOnLoopback(server: Server, port = 0): Promise<number> {
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return portOf(server);
}

export function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

/** Does not wait for requests that are being answered. */
export async function closeNow(server: HttpServer | HttpsServer): Promise<void> {
  server.close();
  server.closeAllConnections();
  await once(server, 'close');
}
