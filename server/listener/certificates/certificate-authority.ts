// Functions that create a CA, and issue serving certificates. All keys are P-256.
import 'reflect-metadata';
import { createPrivateKey, webcrypto } from 'node:crypto';
import { isIP } from 'node:net';
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  PemConverter,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509';

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

/** Tolerated clock skew of clients. */
const BACKDATE_MS = 5 * 60_000;

/** A certificate and its key, both PEM. */
export interface KeyPair {
  readonly certificate: string;
  readonly key: string;
}

/** Creates a self-signed CA. */
export async function createAuthority(now: Date, lifetimeMs: number): Promise<KeyPair> {
  const keys = await generateKeys();
  const certificate = await X509CertificateGenerator.createSelfSigned({
    // Each CA has a unique name, so that clients can distinguish an old and a new CA in one bundle.
    name: `CN=ks-apiserver-serving-ca@${Math.floor(now.getTime() / 1000)}`,
    notBefore: new Date(now.getTime() - BACKDATE_MS),
    notAfter: new Date(now.getTime() + lifetimeMs),
    signingAlgorithm: ALGORITHM,
    keys,
    extensions: [
      new BasicConstraintsExtension(true, 0, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { certificate: certificate.toString('pem'), key: await keyPem(keys.privateKey) };
}

/** Issues a serving certificate for DNS names and IP addresses. It expires no later than its CA. */
export async function issueServing(
  authority: KeyPair,
  names: readonly string[],
  now: Date,
  lifetimeMs: number,
): Promise<KeyPair> {
  const issuer = new X509Certificate(authority.certificate);
  const keys = await generateKeys();
  const certificate = await X509CertificateGenerator.create({
    subject: 'CN=ks-apiserver',
    issuer: issuer.subject,
    notBefore: new Date(now.getTime() - BACKDATE_MS),
    notAfter: new Date(Math.min(now.getTime() + lifetimeMs, issuer.notAfter.getTime())),
    signingAlgorithm: ALGORITHM,
    publicKey: keys.publicKey,
    signingKey: await signingKey(authority.key),
    extensions: [
      new BasicConstraintsExtension(false, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
      new SubjectAlternativeNameExtension(
        names.map((value) => ({ type: isIP(value) === 0 ? 'dns' : 'ip', value }) as const),
      ),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
      await AuthorityKeyIdentifierExtension.create(issuer),
    ],
  });
  return { certificate: certificate.toString('pem'), key: await keyPem(keys.privateKey) };
}

export interface Validity {
  readonly notBefore: Date;
  readonly notAfter: Date;
}

export function validityOf(certificate: string): Validity {
  const { notBefore, notAfter } = new X509Certificate(certificate);
  return { notBefore, notAfter };
}

async function generateKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign', 'verify']);
}

async function keyPem(key: webcrypto.CryptoKey): Promise<string> {
  return PemConverter.encode(await webcrypto.subtle.exportKey('pkcs8', key), 'PRIVATE KEY');
}

async function signingKey(pem: string): Promise<webcrypto.CryptoKey> {
  const der = createPrivateKey(pem).export({ type: 'pkcs8', format: 'der' });
  return webcrypto.subtle.importKey('pkcs8', der, { name: 'ECDSA', namedCurve: 'P-256' }, false, ['sign']);
}
