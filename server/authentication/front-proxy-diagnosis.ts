import type { Logger } from 'pino';
import type { AuthenticationConfig } from './delegated-authentication.ts';

/** What a wrong set-up looks like from here, and which flag of kube-apiserver decides it. */
const REFUSALS = {
  noCA: '--requestheader-client-ca-file',
  noCertificate: '--proxy-client-cert-file and --proxy-client-key-file',
  otherCA: '--requestheader-client-ca-file (it must have signed --proxy-client-cert-file)',
  name: '--requestheader-allowed-names',
} as const;

export type Refusal = keyof typeof REFUSALS;

const LOG_EVERY_MS = 60_000;
const REMEMBERED_MS = 600_000;
const MAX_CAME = 200;

/**
 * Tells operators why the headers of a front proxy were not believed: all that users see of it is Unauthorized, or a
 * Forbidden for somebody else. Anybody can provoke these lines, so they are few and short, and change nothing.
 */
export class FrontProxyDiagnosis {
  readonly #config: AuthenticationConfig;
  readonly #log: Pick<Logger, 'warn'>;
  readonly #monotonic: () => number;
  readonly #logged = new Map<Refusal, number>();
  #last: { readonly text: string; readonly at: number } | undefined;

  constructor(
    config: AuthenticationConfig,
    log: Pick<Logger, 'warn'>,
    monotonic: () => number = () => performance.now(),
  ) {
    this.#config = config;
    this.#log = log;
    this.#monotonic = monotonic;
  }

  /** `came` is what was seen instead of what was expected. */
  refused(refusal: Refusal, came: string): void {
    const now = this.#monotonic();
    const shown = came.replace(/[^ -~]/g, '?').slice(0, MAX_CAME);
    const expected = this.#expected();
    const flag = REFUSALS[refusal];
    this.#last = {
      text: `front-proxy headers refused: expected ${expected}; came ${shown}; kube-apiserver's ${flag} decides`,
      at: now,
    };
    const logged = this.#logged.get(refusal);
    if (logged !== undefined && now - logged < LOG_EVERY_MS) return;
    this.#logged.set(refusal, now);
    this.#log.warn({ expected, came: shown, flag }, 'front-proxy headers refused');
  }

  /** For `/readyz?verbose`: the set-up, and the last refusal of the past ten minutes. */
  describe(): string {
    const recent =
      this.#last && this.#monotonic() - this.#last.at < REMEMBERED_MS ? this.#last.text : undefined;
    return recent ?? `believed: ${this.#expected()}`;
  }

  #expected(): string {
    const config = this.#config.current();
    if (!config) return 'nothing, the settings have not been read yet';
    const proxy = config.frontProxy;
    if (!proxy) return 'none, kube-apiserver publishes no request-header CA (--requestheader-client-ca-file)';
    const cas = proxy.cas.map((ca) => `"${ca.subject.replaceAll('\n', ', ')}"`).join(' or ');
    const names = proxy.allowedNames.map((name) => `"${name}"`).join(' or ');
    return `a client certificate of ${cas} with ${names === '' ? 'any name' : `the name ${names}`}`;
  }
}
