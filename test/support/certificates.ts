// Creates valid and invalid certificates for tests, with control over every verified field.
import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import * as x509 from '@peculiar/x509';

export interface CertificateOptions {
  readonly cn?: string;
  readonly o?: readonly string[];
  /** Values of the subject attribute for the UID of a user (Kubernetes, KEP-4633). */
  readonly uid?: readonly string[];
  /** Makes it a CA; a number sets the path length constraint. */
  readonly ca?: boolean | number;
  /** Extended key usages as object identifiers; an empty list omits the extension. Default: client authentication. */
  readonly purposes?: readonly string[];
  readonly notBefore?: Date;
  readonly notAfter?: Date;
  /** Further extensions, for instance an unknown critical one. */
  readonly extensions?: readonly x509.Extension[];
  /** Issuer name in the certificate, although `signer` signs it. */
  readonly claimedIssuer?: Issued;
}

/** A certificate and its key in PEM, with the key objects to issue further certificates. */
export interface Issued {
  readonly cert: string;
  readonly key: string;
  readonly name: string;
  readonly keys: webcrypto.CryptoKeyPair;
}

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const HOUR = 3_600_000;
const USER_UID = '1.3.6.1.4.1.57683.2';

export function newCA(cn: string, options: CertificateOptions = {}): Promise<Issued> {
  return issue(undefined, { ca: true, purposes: [], ...options, cn });
}

/** Issues a certificate that `signer` signs, or a self-signed one. */
export async function issue(signer: Issued | undefined, options: CertificateOptions): Promise<Issued> {
  const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
  const purposes = options.purposes ?? [x509.ExtendedKeyUsage.clientAuth];
  const subject: x509.JsonName = [
    ...(options.o ?? []).map((group) => ({ O: [group] })),
    ...(options.cn === undefined ? [] : [{ CN: [options.cn] }]),
    ...(options.uid ?? []).map((uid) => ({ [USER_UID]: [uid] })),
  ];
  const issuer = options.claimedIssuer ?? signer;
  const certificate = await x509.X509CertificateGenerator.create(
    {
      serialNumber: Buffer.from(webcrypto.getRandomValues(new Uint8Array(8)).with(0, 1)).toString('hex'),
      subject,
      issuer: issuer ? new x509.X509Certificate(issuer.cert).subjectName.toJSON() : subject,
      notBefore: options.notBefore ?? new Date(Date.now() - HOUR),
      notAfter: options.notAfter ?? new Date(Date.now() + HOUR),
      publicKey: keys.publicKey,
      signingKey: (signer?.keys ?? keys).privateKey,
      signingAlgorithm: ALGORITHM,
      extensions: [
        ...basicConstraints(options.ca),
        ...(purposes.length === 0 ? [] : [new x509.ExtendedKeyUsageExtension([...purposes])]),
        ...(options.extensions ?? []),
      ],
    },
    webcrypto,
  );
  return {
    cert: certificate.toString('pem'),
    key: x509.PemConverter.encode(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey), 'PRIVATE KEY'),
    name: options.cn ?? '',
    keys,
  };
}

/** Issues a serving certificate for localhost. */
/** `address`: IP address of the server. */
export function issueServer(signer: Issued, address = '127.0.0.1'): Promise<Issued> {
  return issue(signer, {
    cn: 'localhost',
    purposes: [x509.ExtendedKeyUsage.serverAuth],
    extensions: [
      new x509.SubjectAlternativeNameExtension([
        { type: 'dns', value: 'localhost' },
        { type: 'ip', value: address },
      ]),
    ],
  });
}

function basicConstraints(ca: boolean | number | undefined): x509.Extension[] {
  if (ca === undefined || ca === false) return [];
  return [new x509.BasicConstraintsExtension(true, typeof ca === 'number' ? ca : undefined, true)];
}
