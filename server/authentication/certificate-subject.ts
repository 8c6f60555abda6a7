import 'reflect-metadata';
import type { X509Certificate } from 'node:crypto';
import { X509Certificate as ParsedCertificate } from '@peculiar/x509';

/** The subject's fields that Kubernetes reads. */
export interface CertificateSubject {
  /** The last one when there are several, as Go has it; empty when there is none. */
  readonly commonName: string;
  readonly organizations: readonly string[];
  /** The attribute that Kubernetes registered for the uid. */
  readonly uids: readonly string[];
}

const UID = '1.3.6.1.4.1.57683.2';

const subjects = new WeakMap<X509Certificate, CertificateSubject>();

// In Node's own `subject`, which is text, one value cannot be told from two; so the structure is read instead.
// Parsing takes some 0.3 ms, and a connection asks for its one certificate at each request.
export function subjectOf(certificate: X509Certificate): CertificateSubject {
  let subject = subjects.get(certificate);
  if (!subject) {
    subject = parse(certificate);
    subjects.set(certificate, subject);
  }
  return subject;
}

function parse(certificate: X509Certificate): CertificateSubject {
  const name = new ParsedCertificate(certificate.raw).subjectName;
  return {
    commonName: name.getField('CN').at(-1) ?? '',
    organizations: name.getField('O'),
    uids: name.getField(UID),
  };
}

export function commonNameOf(certificate: X509Certificate): string {
  return subjectOf(certificate).commonName;
}
