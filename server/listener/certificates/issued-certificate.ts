// Serving certificate that the server issues itself, from the CA in a Secret that all replicas share. The bundle contains
// a new CA for months before this CA issues certificates, so that no client meets an unknown issuer.
import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { Logger } from 'pino';
import { isConflict } from '../../../apis/meta/v1/errors.ts';
import { isRecord } from '../../../apis/reading/unknown-value.ts';
import type { SharedSecret } from '../../cluster/secrets/shared-secret.ts';
import { createAuthority, issueServing, type KeyPair, validityOf } from './certificate-authority.ts';
import type { CertificateMetrics } from './certificate-metrics.ts';
import {
  type CertificateSource,
  ChangeListeners,
  checkServingCertificate,
  type ServingCertificate,
} from './serving-certificate.ts';

/** The key of the CAs in the Secret. */
export const AUTHORITIES_ENTRY = 'serving-ca.json';

const DAY_MS = 24 * 3_600_000;
const CA_LIFETIME_MS = 3650 * DAY_MS;
/** Remaining lifetime of a CA at which its successor is created. */
const CA_RENEWAL_MS = 365 * DAY_MS;
const LEAF_LIFETIME_MS = 90 * DAY_MS;
const CHECK_MS = 60_000;

export interface IssuedCertificateOptions {
  /** DNS names and IP addresses, without duplicates. */
  readonly names: readonly string[];
  /** The Secret with the CA. Undefined: the CA is only in memory. */
  readonly secret: Pick<SharedSecret, 'keep' | 'write'> | undefined;
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>;
  readonly metrics: CertificateMetrics;
  readonly now?: () => Date;
}

export class IssuedCertificate implements CertificateSource {
  readonly #options: IssuedCertificateOptions;
  readonly #listeners: ChangeListeners;
  readonly #now: () => Date;
  /** Newest first. */
  #authorities: readonly KeyPair[] = [];
  #current: { readonly serving: ServingCertificate; readonly issuer: KeyPair } | undefined;
  /** Changes are serialized, so the last delivered version of the Secret wins. */
  #work: Promise<void> = Promise.resolve();
  ready: boolean;

  constructor(options: IssuedCertificateOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => new Date());
    this.#listeners = new ChangeListeners((error) =>
      options.log.error({ err: error }, 'certificate change listener failed'),
    );
    this.ready = options.secret === undefined;
    options.secret?.keep({
      key: AUTHORITIES_ENTRY,
      title: 'serving CA',
      create: async () => JSON.stringify([await createAuthority(this.#now(), CA_LIFETIME_MS)]),
      changed: (content) => {
        const authorities = readAuthorities(content);
        void this.#enqueue(() => this.#accept(authorities));
      },
    });
  }

  /**
   * Issues a certificate of a CA in memory, which serves health checks until the Secret is read. Then renews certificates
   * until `signal` is aborted.
   */
  async start(signal: AbortSignal): Promise<void> {
    this.#authorities = [await createAuthority(this.#now(), CA_LIFETIME_MS)];
    await this.#issue();
    const timer = setInterval(() => void this.renew(), CHECK_MS);
    timer.unref();
    signal.addEventListener('abort', () => clearInterval(timer), { once: true });
  }

  current(): ServingCertificate {
    if (!this.#current) throw new Error('the serving certificate is not issued yet');
    return this.#current.serving;
  }

  onChange(listener: () => void): () => void {
    return this.#listeners.add(listener);
  }

  /** Creates a CA and issues a certificate if they are due for renewal. Never rejects. */
  renew(): Promise<void> {
    return this.#enqueue(() => this.#renew());
  }

  #enqueue(change: () => Promise<void>): Promise<void> {
    this.#work = this.#work.then(change).catch((err: unknown) => {
      this.#options.log.error({ err }, 'serving certificate not renewed, retrying');
    });
    return this.#work;
  }

  /**
   * A certificate of a CA that is no longer in the Secret stays in use until the next check, so that kube-apiserver learns
   * the new CA before it meets it.
   */
  async #accept(authorities: readonly KeyPair[]): Promise<void> {
    this.#authorities = authorities;
    if (!this.ready) await this.#issue();
    else if (this.#current) {
      const { serving, issuer } = this.#current;
      this.#current = { serving: { ...serving, ca: bundleOf(authorities) }, issuer };
    }
    this.ready = true;
    this.#listeners.notify();
  }

  async #renew(): Promise<void> {
    if (this.ready) await this.#rotate();
    const left = this.current().notAfter.getTime() - this.#now().getTime();
    const issuer = this.#current?.issuer.certificate;
    const isKnown = this.#authorities.some(({ certificate }) => certificate === issuer);
    if (isKnown && left > LEAF_LIFETIME_MS / 3) return;
    await this.#issue();
    this.#listeners.notify();
  }

  /** Adds the next CA to the Secret, and removes expired ones. The first of several replicas wins. */
  async #rotate(): Promise<void> {
    const { secret, log } = this.#options;
    const valid = this.#authorities.filter((authority) => this.#left(authority) > 0);
    const isDue = !valid.some((authority) => this.#left(authority) > CA_RENEWAL_MS);
    if (!secret || (!isDue && valid.length === this.#authorities.length)) return;
    const next = isDue ? [await createAuthority(this.#now(), CA_LIFETIME_MS), ...valid] : valid;
    try {
      await secret.write(AUTHORITIES_ENTRY, JSON.stringify(next), AbortSignal.timeout(CHECK_MS));
      log.info({ authorities: next.length }, 'serving CA rotated');
    } catch (error) {
      // The watch delivers the CAs of the faster replica.
      if (!isConflict(error)) log.warn({ err: error }, 'cannot rotate the serving CA, retrying');
    }
  }

  /** The oldest CA that outlives the certificate issues it. */
  async #issue(): Promise<void> {
    const { names, metrics, log } = this.#options;
    const issuer =
      this.#authorities.findLast((authority) => this.#left(authority) > LEAF_LIFETIME_MS) ??
      this.#authorities[0];
    if (!issuer) throw new Error('no CA can issue the serving certificate');
    const leaf = await issueServing(issuer, names, this.#now(), LEAF_LIFETIME_MS);
    const serving = checkServingCertificate(leaf.certificate, leaf.key, bundleOf(this.#authorities));
    this.#current = { serving, issuer };
    metrics.certificate('loaded');
    log.info({ names, notAfter: serving.notAfter }, 'serving certificate issued');
  }

  /** Remaining lifetime in ms. */
  #left({ certificate }: KeyPair): number {
    return validityOf(certificate).notAfter.getTime() - this.#now().getTime();
  }
}

/** The CA bundle for clients: the certificates of all CAs, PEM. */
function bundleOf(authorities: readonly KeyPair[]): string {
  return authorities.map(({ certificate }) => `${certificate.trim()}\n`).join('');
}

/** Throws for text that is not a list of CAs with their keys. The error contains nothing of the text. */
function readAuthorities(content: string): readonly KeyPair[] {
  let value: unknown;
  try {
    value = JSON.parse(content);
  } catch {
    // Handled below: the error of the parser would quote the keys.
  }
  if (!Array.isArray(value) || value.length === 0 || !value.every(isAuthority)) {
    throw new Error(`${AUTHORITIES_ENTRY} is invalid; remove it from the Secret to create a new CA`);
  }
  return value;
}

function isAuthority(value: unknown): value is KeyPair {
  if (!isRecord(value)) return false;
  const { certificate, key } = value;
  if (typeof certificate !== 'string' || typeof key !== 'string') return false;
  try {
    const authority = new X509Certificate(certificate);
    return authority.ca && authority.checkPrivateKey(createPrivateKey(key));
  } catch {
    return false;
  }
}
