// Sets the CA certificates that this process trusts.
import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { messageOf } from '../apis/reading/thrown-value.ts';
import { LoginError } from './login-error.ts';

const PEM = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** Trusts only the CAs in `pem`, as kubectl does; without `pem` those of Node and of the system. */
export function trustCertificates(pem: string | undefined): void {
  setDefaultCACertificates(
    pem === undefined
      ? [...getCACertificates('default'), ...getCACertificates('system')]
      : (pem.match(PEM) ?? []),
  );
}

/** Throws LoginError if the file cannot be read, or has no certificate or an invalid one. */
export async function readCertificates(file: string): Promise<string> {
  const pem = await readFile(file, 'utf8').catch((error: unknown) => {
    throw new LoginError(`cannot read the CA certificates: ${messageOf(error)}`);
  });
  const certificates = pem.match(PEM) ?? [];
  if (certificates.length === 0) throw new LoginError(`${file} contains no certificate in PEM format`);
  try {
    for (const certificate of certificates) void new X509Certificate(certificate);
  } catch (cause) {
    throw new LoginError(`${file} contains an invalid certificate`, { cause });
  }
  return pem;
}
