import { X509Certificate } from 'node:crypto';
import { pemCertificates } from '../cluster/connection/pem-certificates.ts';

/** At most this many certificates stand in a bundle; a replica whose own was pushed out puts it back in front. */
const MOST = 8;

/**
 * The bundle that should stand where `present` stands.
 *
 * It begins with our own certificates. Behind them stay those that bear the same name and are still valid: they are of
 * the other replicas, each of which may have made a CA of its own, or has not yet seen the files change. With
 * `alone` nothing but our own stays. Anything else (a foreign CA, an expired one, text) goes.
 * When `present` already does, it is returned as it is, so replicas do not argue about the order.
 */
export function desiredBundle(present: string, own: string, now: Date, alone = false): string {
  const ours = certificates(own);
  const kept = alone ? [] : certificates(present).filter((each) => isSibling(each, ours, now));
  const wanted = unique([...ours, ...kept]).slice(0, Math.max(MOST, ours.length));
  const found = unique(certificates(present));
  if (sameMembers(found, wanted)) return present;
  return wanted.length === ours.length ? own : wanted.map((each) => each.toString()).join('');
}

/** Whether `bundle` has certificates that are not in `own`. */
export function holdsOthers(bundle: string, own: string): boolean {
  const ours = new Set(certificates(own).map((each) => each.fingerprint256));
  return certificates(bundle).some((each) => !ours.has(each.fingerprint256));
}

function isSibling(candidate: X509Certificate, ours: readonly X509Certificate[], now: Date): boolean {
  const valid = candidate.validFromDate <= now && now <= candidate.validToDate;
  return valid && candidate.ca && ours.some((own) => nameOf(own) === nameOf(candidate));
}

/** CAs that were made one after the other are told apart by the time behind their name: `serving-ca@1700000000`. */
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
  return [...new Map(list.map((each) => [each.fingerprint256, each])).values()];
}

function sameMembers(left: readonly X509Certificate[], right: readonly X509Certificate[]): boolean {
  const names = new Set(left.map((each) => each.fingerprint256));
  return left.length === right.length && right.every((each) => names.has(each.fingerprint256));
}
