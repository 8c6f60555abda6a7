// Computes the CA bundle of an APIService, from the current bundle and the serving CA. ca-bundle-controller.ts
// writes the bundle.
import { X509Certificate } from 'node:crypto';
import { record, recordIn, text } from '../../apis/reading/unknown-value.ts';
import { pemCertificates } from '../files/pem-certificates.ts';

/** The used fields of an APIService. */
export interface ApiService {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** PEM; empty when there is none. */
  readonly caBundle: string;
  readonly insecureSkipTLSVerify: boolean;
  /** `namespace/name` of the Service; undefined for an API that kube-apiserver serves itself. */
  readonly service: string | undefined;
  /** The field managers of `spec.caBundle`. */
  readonly caBundleManagers: readonly string[];
}

/** Parses an APIService. Returns undefined for a value without a name. */
export function readApiService(value: unknown): ApiService | undefined {
  const metadata = recordIn(value, 'metadata');
  const spec = recordIn(value, 'spec');
  const name = text(metadata['name']);
  if (name === '') return undefined;
  const service = record(spec['service']);
  return {
    name,
    uid: text(metadata['uid']),
    resourceVersion: text(metadata['resourceVersion']),
    caBundle: Buffer.from(text(spec['caBundle']), 'base64').toString('utf8'),
    insecureSkipTLSVerify: spec['insecureSkipTLSVerify'] === true,
    service: 'name' in service ? `${text(service['namespace'])}/${text(service['name'])}` : undefined,
    caBundleManagers: managersOfCaBundle(metadata['managedFields']),
  };
}

function managersOfCaBundle(managedFields: unknown): string[] {
  if (!Array.isArray(managedFields)) return [];
  return managedFields
    .filter((entry) => 'f:caBundle' in record(recordIn(entry, 'fieldsV1')['f:spec']))
    .map((entry) => text(record(entry)['manager']));
}

/** Maximum number of certificates in a bundle. A replica whose CA is missing adds it again at the front. */
const MAX_CERTIFICATES = 8;

/**
 * The certificates other than our own that stay in the bundle. `none`: no certificate. `sameName`: CAs with the name of our CA, which
 * are the self-signed CAs of replicas. `valid`: all valid certificates, because another replica may still use one of them.
 */
export type Others = 'none' | 'sameName' | 'valid';

/**
 * Returns the desired bundle for the current bundle `present`: our own certificates, then the others that stay, without expired and
 * invalid ones. Returns `present` if only the order differs, so that replicas do not overwrite each other.
 */
export function desiredBundle(present: string, own: string, now: Date, others: Others): string {
  const ours = certificates(own);
  const kept = certificates(present).filter((candidate) => stays(candidate, others, ours, now));
  const wanted = unique([...ours, ...kept]).slice(0, Math.max(MAX_CERTIFICATES, ours.length));
  const found = unique(certificates(present));
  if (sameMembers(found, wanted)) return present;
  return wanted.length === ours.length ? own : wanted.map((certificate) => certificate.toString()).join('');
}

function stays(
  candidate: X509Certificate,
  others: Others,
  ours: readonly X509Certificate[],
  now: Date,
): boolean {
  const valid = candidate.validFromDate <= now && now <= candidate.validToDate;
  if (!valid || others === 'none') return false;
  return others === 'valid' || (candidate.ca && ours.some((own) => nameOf(own) === nameOf(candidate)));
}

/** The subject without the creation time, which makes the names of self-signed CAs unique: `serving-ca@1700000000`. */
function nameOf({ subject }: X509Certificate): string {
  return subject.replace(/@\d+$/, '');
}

function certificates(pem: string): X509Certificate[] {
  return pemCertificates(pem).flatMap((block) => {
    try {
      return [new X509Certificate(block)];
    } catch {
      return [];
    }
  });
}

function unique(list: readonly X509Certificate[]): X509Certificate[] {
  return [...new Map(list.map((certificate) => [certificate.fingerprint256, certificate])).values()];
}

function sameMembers(left: readonly X509Certificate[], right: readonly X509Certificate[]): boolean {
  const fingerprints = new Set(left.map(({ fingerprint256 }) => fingerprint256));
  return (
    left.length === right.length && right.every(({ fingerprint256 }) => fingerprints.has(fingerprint256))
  );
}
