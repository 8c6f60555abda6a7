// Computes the CA bundle of an APIService, from the current bundle and the serving CA. ca-bundle-controller.ts
// writes the bundle.
import { X509Certificate } from 'node:crypto';
import { array, record, recordIn, text } from '../../apis/reading/unknown-value.ts';
import { pemCertificates } from '../files/pem-certificates.ts';

/** Field manager for server-side apply. It owns only `spec.caBundle`. */
export const FIELD_MANAGER = 'ks-apiserver-ca-bundle';
/** Time for which the CAs of other replicas stay in the bundle: longer than a rollout. */
export const OVERLAP_MS = 3_600_000;

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
  /** The field managers of `spec.caBundle`, with the time of their last change. */
  readonly caBundleManagers: readonly { readonly manager: string; readonly changedAt: number }[];
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

function managersOfCaBundle(managedFields: unknown): ApiService['caBundleManagers'] {
  return array(managedFields)
    .map(record)
    .filter((entry) => 'f:caBundle' in record(recordIn(entry, 'fieldsV1')['f:spec']))
    .map(({ manager, time }) => ({ manager: text(manager), changedAt: Date.parse(text(time)) }));
}

/** Maximum number of certificates in a bundle. A replica whose CA is missing adds it again at the front. */
const MAX_CERTIFICATES = 8;

/**
 * Returns the desired bundle of an APIService: exactly the certificates in `own`, and during a rollout the valid ones of other
 * replicas. Returns the present bundle if it differs only in the order, so that replicas do not overwrite each other.
 *
 * Replicas have different CAs while they change from one release or one set of certificate files to the next, and after
 * the Secret was emptied. They would otherwise remove each other's CA in a loop.
 */
export function desiredBundle(seen: ApiService, own: string, now: Date, overlapMs = OVERLAP_MS): string {
  const ours = certificates(own);
  const present = certificates(seen.caBundle);
  const isMissing = !ours.every((certificate) => has(present, certificate));
  const others = isRollout(seen, now, isMissing ? Number.POSITIVE_INFINITY : overlapMs)
    ? present.filter(({ validFromDate, validToDate }) => validFromDate <= now && now <= validToDate)
    : [];
  const wanted = unique([...ours, ...others]).slice(0, Math.max(MAX_CERTIFICATES, ours.length));
  const isPresent = wanted.length === unique(present).length && wanted.every((one) => has(present, one));
  if (isPresent) return seen.caBundle;
  return wanted.length === ours.length ? own : wanted.map((certificate) => certificate.toString()).join('');
}

/** True if only replicas have changed the bundle, and the last change is not older than `overlapMs`. */
function isRollout({ caBundleManagers }: ApiService, now: Date, overlapMs: number): boolean {
  return (
    caBundleManagers.length > 0 &&
    caBundleManagers.every(
      ({ manager, changedAt }) => manager === FIELD_MANAGER && now.getTime() - changedAt < overlapMs,
    )
  );
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

function has(list: readonly X509Certificate[], { fingerprint256 }: X509Certificate): boolean {
  return list.some((certificate) => certificate.fingerprint256 === fingerprint256);
}
