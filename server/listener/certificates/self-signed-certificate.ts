// Creates and renews a CA and a self-signed serving certificate. A new CA is in the CA
// bundle for one day before it issues certificates.
import type { Logger } from 'pino';
import { StartupError } from '../../../apis/config/v1alpha1/startup-error.ts';
import { messageOf } from '../../../apis/reading/thrown-value.ts';
import { type Authorities, type AuthorityStore, bundleOf } from './authority-store.ts';
import { createAuthority, issueServing, type KeyPair, validityOf } from './certificate-authority.ts';
import type { CertificateMetrics } from './certificate-metrics.ts';
import {
  type CertificateSource,
  ChangeListeners,
  checkServingCertificate,
  type ServingCertificate,
} from './serving-certificate.ts';

const DAY_MS = 24 * 3_600_000;
const CA_LIFETIME_MS = 3650 * DAY_MS;
const LEAF_LIFETIME_MS = 90 * DAY_MS;
/** Remaining lifetime of a CA at which its successor is created. Longer than the lifetime of a serving certificate. */
const CA_RENEWAL_MS = 365 * DAY_MS;
/** Time between the publication of a CA and its first certificate. */
const CA_NOTICE_MS = DAY_MS;
const CHECK_MS = 3_600_000;

export interface SelfSignedOptions {
  /** DNS names and IP addresses, without duplicates. */
  readonly names: readonly string[];
  readonly store: AuthorityStore;
  readonly log: Logger;
  readonly metrics: CertificateMetrics;
  readonly now?: () => Date;
}

export class SelfSignedCertificate implements CertificateSource {
  readonly #options: SelfSignedOptions;
  readonly #listeners: ChangeListeners;
  readonly #now: () => Date;
  #current: ServingCertificate | undefined;

  constructor(options: SelfSignedOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => new Date());
    this.#listeners = new ChangeListeners((error) =>
      options.log.error({ err: error }, 'certificate change listener failed'),
    );
  }

  /** Issues the certificate, then renews it until `signal` is aborted. Throws StartupError if the CA cannot be stored. */
  async start(signal: AbortSignal): Promise<void> {
    try {
      await this.renew();
    } catch (error) {
      const reason = messageOf(error);
      throw new StartupError(
        'ERR_SERVING_CERTIFICATE',
        `self-signed serving certificate: ${reason}; set listeners.secure.selfSigned.directory to a writable folder, or leave it empty`,
        { cause: error },
      );
    }
    const timer = setInterval(() => {
      this.renew().catch((error: unknown) => {
        this.#options.log.error({ err: error }, 'serving certificate not renewed, retrying in an hour');
      });
    }, CHECK_MS);
    timer.unref();
    signal.addEventListener('abort', () => clearInterval(timer), { once: true });
  }

  current(): ServingCertificate {
    if (!this.#current) throw new Error('the serving certificate is not issued yet');
    return this.#current;
  }

  onChange(listener: () => void): () => void {
    return this.#listeners.add(listener);
  }

  /** Creates a CA and issues a certificate if they are due for renewal. Also loads CAs that another replica has stored. */
  async renew(): Promise<void> {
    const now = this.#now();
    const authorities = await this.#authorities(now);
    const ca = bundleOf(authorities);
    const current = this.#current;
    const due = !current || current.notAfter.getTime() - now.getTime() < LEAF_LIFETIME_MS / 3;
    if (!due && current.ca === ca) return;
    if (due) {
      const issuer = issuerAmong(authorities, now);
      const leaf = await issueServing(issuer, this.#options.names, now, LEAF_LIFETIME_MS);
      this.#current = checkServingCertificate(`${leaf.certificate}\n`, leaf.key, ca);
      this.#options.metrics.certificate('loaded');
      const { notAfter } = this.#current;
      this.#options.log.info(
        { names: this.#options.names, notAfter },
        'self-signed serving certificate issued',
      );
    } else {
      this.#current = { ...current, ca };
    }
    if (current) this.#listeners.notify();
  }

  async #authorities(now: Date): Promise<Authorities> {
    const { store } = this.#options;
    const kept = await store.load();
    const usable = (kept ?? []).filter(({ certificate }) => validityOf(certificate).notAfter > now);
    const [newest] = usable;
    const left = newest ? validityOf(newest.certificate).notAfter.getTime() - now.getTime() : 0;
    if (kept && left > CA_RENEWAL_MS) return usable;
    return store.replace(kept, [await createAuthority(now, CA_LIFETIME_MS), ...usable]);
  }
}

/** The newest CA that was published at least CA_NOTICE_MS ago, else the oldest CA. */
function issuerAmong(authorities: Authorities, now: Date): KeyPair {
  const known = authorities.find(
    ({ certificate }) => now.getTime() - validityOf(certificate).notBefore.getTime() > CA_NOTICE_MS,
  );
  const issuer = known ?? authorities.at(-1);
  if (!issuer) throw new Error('no CA can issue the serving certificate');
  return issuer;
}
