// Certificate authority that issues the certificates of the control plane and the tests.
import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import * as x509 from '@peculiar/x509';

/** A certificate and its private key, in PEM. */
export interface KeyPair {
  readonly cert: string;
  readonly key: string;
}

export interface Subject {
  /** Common name; for clients of kube-apiserver the user name. */
  readonly cn: string;
  /** Organizations; for clients of kube-apiserver the groups. */
  readonly o?: readonly string[];
}

export interface Validity {
  readonly notBefore?: Date;
  readonly notAfter?: Date;
}

const YEAR = 365 * 24 * 60 * 60 * 1000;
/** Certificates are valid from this time before their creation, in ms, so that slow clocks accept them. */
const BACKDATED = 5 * 60 * 1000;
const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

/** A certificate authority that issues certificates for servers and clients. */
export class CertificateAuthority {
  /** CA certificate, PEM. */
  readonly cert: string;
  /** Private key, PEM (PKCS #8). */
  readonly key: string;

  private constructor(pair: KeyPair) {
    this.cert = pair.cert;
    this.key = pair.key;
  }

  /** Creates a self-signed CA, by default valid for ten years. */
  static async create(cn: string, validity: Validity = {}): Promise<CertificateAuthority> {
    const keys = await generateKeys();
    const certificate = await x509.X509CertificateGenerator.createSelfSigned(
      {
        serialNumber: serialNumber(),
        name: nameOf({ cn }),
        ...datesOf(validity, 10 * YEAR),
        keys,
        signingAlgorithm: ALGORITHM,
        extensions: [
          new x509.BasicConstraintsExtension(true, undefined, true),
          new x509.KeyUsagesExtension(
            x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign | x509.KeyUsageFlags.digitalSignature,
            true,
          ),
          await x509.SubjectKeyIdentifierExtension.create(keys.publicKey, false, webcrypto),
        ],
      },
      webcrypto,
    );
    return new CertificateAuthority({ cert: certificate.toString('pem'), key: await pemOf(keys.privateKey) });
  }

  /** Loads an existing CA. */
  static from(pair: KeyPair): CertificateAuthority {
    return new CertificateAuthority(pair);
  }

  /** Issues a client certificate. */
  issueClient(subject: Subject, validity: Validity = {}): Promise<KeyPair> {
    return this.#issue(subject, validity, [new x509.ExtendedKeyUsageExtension([CLIENT_AUTH])]);
  }

  /** Issues a serving certificate for DNS names and IP addresses; with `peer` also for client authentication. */
  issueServer(
    subject: Subject,
    names: { dns: readonly string[]; ip: readonly string[]; peer?: boolean },
    validity: Validity = {},
  ): Promise<KeyPair> {
    return this.#issue(subject, validity, [
      new x509.ExtendedKeyUsageExtension(names.peer === true ? [SERVER_AUTH, CLIENT_AUTH] : [SERVER_AUTH]),
      new x509.SubjectAlternativeNameExtension([
        ...names.dns.map((value) => ({ type: 'dns' as const, value })),
        ...names.ip.map((value) => ({ type: 'ip' as const, value })),
      ]),
    ]);
  }

  async #issue(subject: Subject, validity: Validity, extensions: x509.Extension[]): Promise<KeyPair> {
    const issuer = new x509.X509Certificate(this.cert);
    const signingKey = await webcrypto.subtle.importKey('pkcs8', derOf(this.key), ALGORITHM, false, ['sign']);
    const keys = await generateKeys();
    const certificate = await x509.X509CertificateGenerator.create(
      {
        serialNumber: serialNumber(),
        subject: nameOf(subject),
        issuer: issuer.subject,
        ...datesOf(validity, YEAR),
        publicKey: keys.publicKey,
        signingKey,
        signingAlgorithm: ALGORITHM,
        extensions: [
          new x509.BasicConstraintsExtension(false, undefined, true),
          new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
          await x509.AuthorityKeyIdentifierExtension.create(issuer, false, webcrypto),
          ...extensions,
        ],
      },
      webcrypto,
    );
    return { cert: certificate.toString('pem'), key: await pemOf(keys.privateKey) };
  }
}

const SERVER_AUTH = x509.ExtendedKeyUsage.serverAuth;
const CLIENT_AUTH = x509.ExtendedKeyUsage.clientAuth;

function nameOf(subject: Subject): x509.JsonName {
  // A distinguished name starts with the most general attribute.
  return [...(subject.o ?? []).map((group) => ({ O: [group] })), { CN: [subject.cn] }];
}

function datesOf(validity: Validity, lifetime: number): { notBefore: Date; notAfter: Date } {
  const now = Date.now();
  return {
    notBefore: validity.notBefore ?? new Date(now - BACKDATED),
    notAfter: validity.notAfter ?? new Date(now + lifetime),
  };
}

/** Positive hexadecimal number: the highest bit is zero. */
function serialNumber(): string {
  const bytes = webcrypto.getRandomValues(new Uint8Array(16));
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40;
  return Buffer.from(bytes).toString('hex');
}

function generateKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
}

async function pemOf(key: webcrypto.CryptoKey): Promise<string> {
  return x509.PemConverter.encode(await webcrypto.subtle.exportKey('pkcs8', key), 'PRIVATE KEY');
}

function derOf(pem: string): ArrayBuffer {
  return x509.PemConverter.decodeFirst(pem);
}
