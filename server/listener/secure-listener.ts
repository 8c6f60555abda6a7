// The TLS listener. It shows the newest certificate to each new connection and asks clients for theirs without
// insisting; authentication decides for each request what a certificate is worth.
import { constants, X509Certificate } from 'node:crypto';
import { createServer, type Server } from 'node:https';
import type { SecureContextOptions, SecureVersion } from 'node:tls';
import { pemCertificates } from '../cluster/connection/pem-certificates.ts';
import type { CertificateSource } from './certificates/serving-certificate.ts';
import { Listener, type ListenerOptions, serverOptions } from './listener.ts';

export interface SecureListenerOptions extends ListenerOptions {
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
    super('secure', tls, options);
    this.#tls = tls;
    this.#secure = options;
    this.#unsubscribe = options.certificates.onChange(() => this.#renewContext());
    void this.closed.then(this.#unsubscribe);
  }

  /**
   * The CAs, PEM, whose clients are asked to show a certificate. Connections that are open keep the certificate they
   * showed; authentication decides whether it is still valid. Anything that is not a certificate is skipped and logged.
   */
  setClientCAs(pems: readonly string[]): void {
    this.#clientCAs = [...new Set(pems.flatMap(pemCertificates))].filter((pem) => this.#isReadable(pem));
    this.#renewContext();
  }

  #isReadable(pem: string): boolean {
    try {
      return new X509Certificate(pem).subject !== undefined;
    } catch (error) {
      this.#secure.log.error({ err: error }, 'a client CA is no readable certificate, it is left out');
      return false;
    }
  }

  #renewContext(): void {
    try {
      this.#tls.setSecureContext(contextOptions(this.#secure, this.#clientCAs));
    } catch (error) {
      this.#secure.log.error({ err: error }, 'TLS settings refused, the old ones stay in use');
    }
  }
}

function contextOptions(options: SecureListenerOptions, clientCAs: readonly string[]): SecureContextOptions {
  const { cert, key } = options.certificates.current();
  return {
    cert,
    key,
    minVersion: options.minVersion,
    // Without `ca` Node would ask for certificates of its hundred built-in CAs.
    ca: [...clientCAs],
    // A resumed session brings the client's leaf back without its intermediates, and outlives the removal of a CA:
    // each connection begins with a handshake of its own.
    secureOptions: constants.SSL_OP_NO_TICKET,
  };
}
