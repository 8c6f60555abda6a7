// HTTPS server that plays kube-apiserver behind the gateway. A test decides each response, down to its bytes.
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { TLSSocket } from 'node:tls';
import { type Issued, issueServer, newCA } from '../certificates.ts';
import { closeNow, listenOnLoopback, portOf } from '../loopback.ts';

type Respond = (request: IncomingMessage, response: ServerResponse) => void;
type Upgrade = (request: IncomingMessage, socket: TLSSocket, head: Buffer) => void;

export class ScriptedUpstream {
  readonly ca: Issued;
  readonly url: string;
  readonly #server: Server;
  /** All received requests, upgrades included. */
  readonly received: IncomingMessage[] = [];
  /** The open connections. */
  readonly connections = new Set<TLSSocket>();
  /** The number of connections since the start. */
  accepted = 0;
  respond: Respond = (_request, response) => void response.end('ok');
  upgrade: Upgrade = (_request, socket) => socket.destroy();

  private constructor(ca: Issued, server: Server) {
    this.ca = ca;
    this.url = `https://127.0.0.1:${portOf(server)}`;
    this.#server = server;
    server.on('secureConnection', (socket: TLSSocket) => {
      this.accepted++;
      this.connections.add(socket);
      socket.on('error', () => socket.destroy());
      socket.once('close', () => this.connections.delete(socket));
    });
    server.on('request', (request, response) => {
      this.received.push(request);
      this.respond(request, response);
    });
    server.on('upgrade', (request, socket, head) => {
      this.received.push(request);
      this.upgrade(request, socket as TLSSocket, head);
    });
  }

  /** `ca`: the CA of an earlier server. */
  static async start(ca?: Issued): Promise<ScriptedUpstream> {
    const issuer = ca ?? (await newCA('upstream'));
    const { cert, key } = await issueServer(issuer);
    const server = createServer({ cert, key });
    await listenOnLoopback(server);
    return new ScriptedUpstream(issuer, server);
  }

  /** Replaces the serving certificate, by one of the same CA. */
  async renewCertificate(): Promise<void> {
    const { cert, key } = await issueServer(this.ca);
    (this.#server as ReturnType<typeof createServer>).setSecureContext({ cert, key });
  }

  stop(): Promise<void> {
    return closeNow(this.#server);
  }
}
