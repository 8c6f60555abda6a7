// TLS listener with optional client certificates. Authentication verifies client certificates for each request.
import { constants, X509Certificate } from 'node:crypto';
import { createServer, type Server } from 'node:https';
import type { Socket } from 'node:net';
import type { SecureContextOptions, SecureVersion } from 'node:tls';
import { pemCertificates } from '../files/pem-certificates.ts';
import type { CertificateSource } from './certificates/serving-certificate.ts';
import { HandshakeTurns } from './handshake-turns.ts';
import { Listener, type ListenerOptions, serverOptions } from './listener.ts';

interface SecureListenerOptions extends ListenerOptions {
  readonly certificates: CertificateSource;
  readonly minVersion: SecureVersion;
}

export class SecureListener extends Listener {
  readonly #tls: Server;
  readonly #secure: SecureListenerOptions;
  readonly #unsubscribe: () => void;
  #clientCAs: readonly string[] = [];

  constructor(options: SecureListenerOptions) {
    const tls = createServer({
      ...serverOptions(options.limits),
      ...contextOptions(options, []),
      requestCert: true,
      rejectUnauthorized: false,
      handshakeTimeout: options.limits.handshakeTimeout,
      ALPNProtocols: ['http/1.1'],
    });
    takeTurns(tls, options);
    super('secure', tls, options);
    this.#tls = tls;
    this.#secure = options;
    this.#unsubscribe = options.certificates.onChange(() => this.#renewContext());
    void this.closed.then(this.#unsubscribe);
  }

  /**
   * Sets the CAs (PEM) that TLS handshakes announce to clients, which choose a matching client certificate. Open connections are
   * not affected. Unreadable CAs are skipped and logged.
   */
  setClientCAs(pems: readonly string[]): void {
    this.#clientCAs = [...new Set(pems.flatMap(pemCertificates))].filter((pem) => this.#isReadable(pem));
    this.#renewContext();
  }

  #isReadable(pem: string): boolean {
    try {
      return new X509Certificate(pem).subject !== undefined;
    } catch (error) {
      this.#secure.log.error({ err: error }, 'unreadable client CA skipped');
      return false;
    }
  }

  #renewContext(): void {
    try {
      this.#tls.setSecureContext(contextOptions(this.#secure, this.#clientCAs));
    } catch (error) {
      this.#secure.log.error({ err: error }, 'TLS settings rejected, the current ones stay in use');
    }
  }
}

/** Node's own listener starts the handshake of a connection. It can do so after the first bytes have arrived. */
function takeTurns(tls: Server, { limits, metrics }: ListenerOptions): void {
  const listeners = tls.listeners('connection');
  const timedOut = (socket: Socket): void => {
    metrics.handshakeFailed();
    socket.destroy();
  };
  const turns = new HandshakeTurns({ timeoutMs: limits.handshakeTimeout, timedOut });
  tls.removeAllListeners('connection');
  tls.on('connection', (socket: Socket) => {
    turns.wait(socket, () => {
      for (const listener of listeners) listener.call(tls, socket);
    });
  });
}

function contextOptions(options: SecureListenerOptions, clientCAs: readonly string[]): SecureContextOptions {
  const { cert, key } = options.certificates.current();
  return {
    cert,
    key,
    minVersion: options.minVersion,
    // Without `ca` Node would request certificates of its built-in CAs.
    ca: [...clientCAs],
    // No session resumption: a resumed session has no intermediates of the client certificate, and stays valid after its CA is
    // removed.
    secureOptions: constants.SSL_OP_NO_TICKET,
  };
}
