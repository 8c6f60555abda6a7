// Records the last accepted and rejected front-proxy request, for the log and `/readyz?verbose`. A rejection names
// the kube-apiserver flag to check.
import type { Logger } from 'pino';
import type { AuthenticationConfig } from './delegated-authentication.ts';

/** The flags of kube-apiserver to check, by the reason for rejecting front-proxy headers. */
const REJECTIONS = {
  noCA: '--requestheader-client-ca-file',
  noCertificate: '--proxy-client-cert-file and --proxy-client-key-file',
  untrustedCertificate: '--requestheader-client-ca-file (it must have signed --proxy-client-cert-file)',
  name: '--requestheader-allowed-names',
} as const;

type Rejection = keyof typeof REJECTIONS;

interface Attempt {
  readonly text: string;
  readonly at: number;
  /** True if the client had a valid certificate of the request-header CA. Any client can cause other rejections. */
  readonly isTrusted: boolean;
}

const LOG_INTERVAL_MS = 60_000;
const REJECTION_TTL_MS = 600_000;
const MAX_PRESENTED = 200;

/**
 * Records the last accepted and the last rejected front-proxy request, because users behind a misconfigured front proxy see only
 * `Unauthorized`. Any client can cause rejections. So the log is rate-limited, texts are shortened, and an untrusted rejection never
 * replaces a trusted one.
 */
export class FrontProxyStatus {
  readonly #config: AuthenticationConfig;
  readonly #log: Pick<Logger, 'warn'>;
  readonly #monotonic: () => number;
  readonly #logged = new Map<Rejection, number>();
  #acceptedName = '';
  #acceptedAt: number | undefined;
  #rejected: Attempt | undefined;

  constructor(
    config: AuthenticationConfig,
    log: Pick<Logger, 'warn'>,
    monotonic: () => number = () => performance.now(),
  ) {
    this.#config = config;
    this.#log = log;
    this.#monotonic = monotonic;
  }

  /** `commonName` is that of the front proxy's certificate. */
  accepted(commonName: string): void {
    this.#acceptedName = commonName;
    this.#acceptedAt = this.#monotonic();
  }

  /** `presented` describes the certificate of the client. */
  rejected(reason: Rejection, presented: string): void {
    const now = this.#monotonic();
    const shown = printableASCII(presented);
    const flag = REJECTIONS[reason];
    const isTrusted = reason === 'name';
    if (isTrusted || !this.#recentRejection(now)?.isTrusted) {
      this.#rejected = { text: `${shown} (check ${flag} of kube-apiserver)`, at: now, isTrusted };
    }
    const logged = this.#logged.get(reason);
    if (logged !== undefined && now - logged < LOG_INTERVAL_MS) return;
    this.#logged.set(reason, now);
    this.#log.warn({ expected: this.#expected(), presented: shown, flag }, 'front-proxy headers rejected');
  }

  /**
   * Returns the text for `/readyz?verbose`: the expected certificate, the last accepted request, and the last rejected request of the
   * past ten minutes.
   */
  describe(): string {
    const now = this.#monotonic();
    const rejected = this.#recentRejection(now);
    const accepted =
      this.#acceptedAt === undefined
        ? 'none'
        : `"${printableASCII(this.#acceptedName)}" ${secondsBetween(this.#acceptedAt, now)} ago`;
    return [
      `expected ${this.#expected()}`,
      `last accepted: ${accepted}`,
      `last rejected: ${rejected ? `${rejected.text} ${secondsBetween(rejected.at, now)} ago` : 'none'}`,
    ].join('; ');
  }

  #recentRejection(now: number): Attempt | undefined {
    return this.#rejected && now - this.#rejected.at < REJECTION_TTL_MS ? this.#rejected : undefined;
  }

  #expected(): string {
    const config = this.#config.current();
    if (!config) return 'nothing yet: the ConfigMap has not been read';
    const proxy = config.frontProxy;
    if (!proxy) {
      return 'no front proxy: kube-apiserver publishes no request-header CA (--requestheader-client-ca-file)';
    }
    const cas = proxy.cas.map((ca) => `"${ca.subject.replaceAll('\n', ', ')}"`).join(' or ');
    const names = proxy.allowedNames.map((name) => `"${name}"`).join(' or ');
    return `a client certificate of ${cas} with ${names === '' ? 'any name' : `the name ${names}`}`;
  }
}

function printableASCII(text: string): string {
  return text.replace(/[^ -~]/g, '?').slice(0, MAX_PRESENTED);
}

function secondsBetween(from: number, to: number): string {
  return `${Math.floor((to - from) / 1000)} s`;
}
