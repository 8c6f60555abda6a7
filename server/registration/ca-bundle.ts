import { X509Certificate } from 'node:crypto';
import { pemCertificates } from '../cluster/connection/pem-certificates.ts';

/** At most this many certificates stand in a bundle; a replica whose own was pushed out puts it back in front. */
const MOST = 8;

/**
 * Which certificates stay behind our own. `none`: no other; `sameName`: of replicas that made a CA of their own, as they
 * bear the name of ours; `valid`: whichever, for a replica put them there that may still serve under them.
 */
export type Others = 'none' | 'sameName' | 'valid';

/**
 * The bundle that should stand where `present` stands: our own certificates, then the others that may stay. What has
 * expired and what is no certificate goes in any case. When `present` already does, it is returned as it is, so replicas
 * do not argue about the order.
 */
export function desiredBundle(present: string, own: string, now: Date, others: Others): string {
  const ours = certificates(own);
  const kept = certificates(present).filter((each) => mayStay(each, others, ours, now));
  const wanted = unique([...ours, ...kept]).slice(0, Math.max(MOST, ours.length));
  const found = unique(certificates(present));
  if (sameMembers(found, wanted)) return present;
  return wanted.length === ours.length ? own : wanted.map((each) => each.toString()).join('');
}

function mayStay(
  candidate: X509Certificate,
  others: Others,
  ours: readonly X509Certificate[],
  now: Date,
): boolean {
  const valid = candidate.validFromDate <= now && now <= candidate.validToDate;
  if (!valid || others === 'none') return false;
  return others === 'valid' || (candidate.ca && ours.some((own) => nameOf(own) === nameOf(candidate)));
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
