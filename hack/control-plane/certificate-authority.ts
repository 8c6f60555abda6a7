import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import * as x509 from '@peculiar/x509';

/** A certificate and its private key, both PEM. */
export interface KeyPair {
  readonly cert: string;
  readonly key: string;
}

export interface Subject {
  /** Common name: the user name, for a client of kube-apiserver. */
  readonly cn: string;
  /** Organizations: the groups. */
  readonly o?: readonly string[];
}

export interface Validity {
  readonly notBefore?: Date;
  readonly notAfter?: Date;
}

const YEAR = 365 * 24 * 60 * 60 * 1000;
/** Programs whose clock is a little behind must accept a new certificate as well. */
const BACKDATED = 5 * 60 * 1000;
const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

/** A certificate authority with its key: issues what servers and clients present. */
export class CertificateAuthority {
  /** PEM of the authority's own certificate. */
  readonly cert: string;
  /** PEM (PKCS #8) of its key. */
  readonly key: string;

  private constructor(pair: KeyPair) {
    this.cert = pair.cert;
    this.key = pair.key;
  }

  /** A new authority, self-signed, valid for ten years unless told otherwise. */
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

  /** An authority that was created before. */
  static from(pair: KeyPair): CertificateAuthority {
    return new CertificateAuthority(pair);
  }

  /** A certificate that a client presents; to kube-apiserver it says who the user is. */
  issueClient(subject: Subject, validity: Validity = {}): Promise<KeyPair> {
    return this.#issue(subject, validity, [new x509.ExtendedKeyUsageExtension([CLIENT_AUTH])]);
  }

  /** A certificate for a server under the given DNS names and IP addresses; with `peer` it may be a client as well. */
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
  // Organizations first: names are written from the most general part on.
  return [...(subject.o ?? []).map((group) => ({ O: [group] })), { CN: [subject.cn] }];
}

function datesOf(validity: Validity, lifetime: number): { notBefore: Date; notAfter: Date } {
  const now = Date.now();
  return {
    notBefore: validity.notBefore ?? new Date(now - BACKDATED),
    notAfter: validity.notAfter ?? new Date(now + lifetime),
  };
}

/** Hexadecimal, positive: the highest bit stays zero. */
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
