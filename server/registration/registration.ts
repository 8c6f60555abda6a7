// Registers the server with kube-apiserver: one controller per APIService updates `spec.caBundle`. The manifests
// create the APIServices.
import { Gauge, type Registry } from 'prom-client';
import { CaBundleController, type ControllerOptions } from './ca-bundle-controller.ts';

export interface RegistrationOptions extends ControllerOptions {
  /** Names of the APIServices of this server. */
  readonly apiServices: readonly string[];
  /** `registration.manageCABundle` of the configuration. */
  readonly manageCABundle: boolean;
}

export class Registration {
  readonly #managed: boolean;
  readonly #controllers: readonly CaBundleController[];

  constructor(options: RegistrationOptions) {
    this.#managed = options.manageCABundle;
    this.#controllers = options.apiServices.map((name) => new CaBundleController(name, options));
  }

  /** Runs the controllers until `signal` is aborted, then resolves. */
  async run(signal: AbortSignal): Promise<void> {
    if (!this.#managed) return;
    await Promise.all(this.#controllers.map((controller) => controller.run(signal)));
  }

  /** The trust of kube-apiserver by APIService. Empty if the server does not manage the bundles. */
  *trust(): Generator<readonly [apiService: string, trusted: boolean]> {
    if (!this.#managed) return;
    for (const { name, trusted } of this.#controllers) yield [name, trusted];
  }

  /**
   * The text of the readiness check `registration`. The check never fails: otherwise a server that is not registered yet would be
   * removed from its Service, and could never become registered.
   */
  describe(): string {
    if (!this.#managed) return 'registration.manageCABundle is false: spec.caBundle is not managed';
    return this.#controllers.map((controller) => controller.state).join('; ');
  }
}

/** Returns for each APIService whether kube-apiserver trusts this server. */
type TrustByApiService = () => Iterable<readonly [apiService: string, trusted: boolean]>;

export function collectRegistrationMetrics(registry: Registry, trust: TrustByApiService): void {
  registry.registerMetric(
    new Gauge({
      name: 'apiserver_registration_trusted',
      help: '1 if spec.caBundle contains the serving CA, else 0. Absent if the server does not manage the field.',
      labelNames: ['apiservice'],
      registers: [],
      collect() {
        for (const [apiservice, trusted] of trust()) this.set({ apiservice }, trusted ? 1 : 0);
      },
    }),
  );
}
