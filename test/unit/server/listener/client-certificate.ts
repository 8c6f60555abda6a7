// Issues client certificates for tests.
import 'reflect-metadata';
import { createPrivateKey, webcrypto } from 'node:crypto';
import {
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  PemConverter,
  X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509';
import type { KeyPair } from '../../../../server/listener/certificates/certificate-authority.ts';

const ECDSA = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

/** A client certificate for CN=someone, as TLS options. */
export async function issueClient(authority: KeyPair): Promise<{ cert: string; key: string }> {
  const der = createPrivateKey(authority.key).export({ type: 'pkcs8', format: 'der' });
  const signingKey = await webcrypto.subtle.importKey('pkcs8', der, ECDSA, false, ['sign']);
  const keys = await webcrypto.subtle.generateKey(ECDSA, true, ['sign', 'verify']);
  const certificate = await X509CertificateGenerator.create({
    subject: 'CN=someone',
    issuer: new X509Certificate(authority.certificate).subject,
    notAfter: new Date(Date.now() + 3_600_000),
    signingAlgorithm: ECDSA,
    publicKey: keys.publicKey,
    signingKey,
    extensions: [new ExtendedKeyUsageExtension([ExtendedKeyUsage.clientAuth])],
  });
  return {
    cert: certificate.toString('pem'),
    key: PemConverter.encode(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey), 'PRIVATE KEY'),
  };
}
