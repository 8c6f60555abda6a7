// Listens for LDAP on two loopback ports, with TLS from the start and with StartTLS, and passes requests to a directory.
import { createServer, type Server, type Socket } from 'node:net';
import { createSecureContext, createServer as createTLSServer, TLSSocket } from 'node:tls';
import { type Issued, issueServer } from '../certificates.ts';
import { listenOnLoopback } from '../loopback.ts';
import { type LDAPRequest, noticeOfDisconnection, readRequest, resultMessage } from './ldap-wire.ts';

export interface LDAPConnection {
  readonly isEncrypted: boolean;
  /** DN of the last successful bind. */
  boundAs: string | undefined;
}

/** Returns the messages of the response. */
type Respond = (connection: LDAPConnection, request: LDAPRequest) => readonly Buffer[];

export class LDAPServer implements AsyncDisposable {
  readonly #certificate: Issued;
  readonly #respond: Respond;
  readonly #plain: Server;
  readonly #encrypted: Server;
  readonly #sockets = new Set<Socket>();
  #held: PromiseWithResolvers<void> | undefined;
  ldapPort = 0;
  ldapsPort = 0;

  private constructor(certificate: Issued, respond: Respond) {
    this.#certificate = certificate;
    this.#respond = respond;
    this.#plain = createServer((socket) => this.#accept(socket, false));
    this.#encrypted = createTLSServer(certificate, (socket) => this.#accept(socket, true));
  }

  static async start(ca: Issued, respond: Respond): Promise<LDAPServer> {
    const server = new LDAPServer(await issueServer(ca), respond);
    server.ldapPort = await listenOnLoopback(server.#plain);
    server.ldapsPort = await listenOnLoopback(server.#encrypted);
    return server;
  }

  /** Its sockets stay open, and it does not respond. */
  pause(): void {
    this.#held ??= Promise.withResolvers();
  }

  resume(): void {
    this.#held?.resolve();
    this.#held = undefined;
  }

  get connections(): number {
    return this.#sockets.size;
  }

  /** Ends all connections, as a server that shuts down. */
  disconnect(): void {
    for (const socket of this.#sockets) socket.end(noticeOfDisconnection());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.resume();
    for (const server of [this.#plain, this.#encrypted]) server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #accept(socket: Socket, isEncrypted: boolean): void {
    this.#sockets.add(socket);
    // Clients close connections at any time.
    socket.on('error', () => undefined).once('close', () => this.#sockets.delete(socket));
    void this.#serve(socket, isEncrypted).catch(() => socket.destroy());
  }

  async #serve(socket: Socket, isEncrypted: boolean): Promise<void> {
    const connection: LDAPConnection = { isEncrypted, boundAs: undefined };
    let bytes = Buffer.alloc(0);
    for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
      bytes = Buffer.concat([bytes, chunk as Buffer]);
      for (let next = readRequest(bytes); next; next = readRequest(bytes)) {
        bytes = bytes.subarray(next.length);
        await this.#held?.promise;
        const { request } = next;
        if (request.operation === 'unbind') return void socket.end();
        if (request.operation === 'startTLS') {
          socket.write(resultMessage(request.id, 'startTLS', { code: 0 }));
          const secureContext = createSecureContext(this.#certificate);
          return this.#accept(new TLSSocket(socket, { isServer: true, secureContext }), true);
        }
        for (const message of this.#respond(connection, request)) socket.write(message);
      }
    }
  }
}
