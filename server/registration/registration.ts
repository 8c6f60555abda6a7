// Registration: keeps `spec.caBundle` of our APIServices up to date, so that kube-apiserver trusts this server. The
// installation (manifests/) creates and deletes APIServices, listener/ owns the serving certificates, server/cluster the
// connection to the cluster.
import { CaBundleController, type ControllerOptions } from './ca-bundle-controller.ts';

export interface RegistrationOptions extends ControllerOptions {
  /** Names of the APIServices that point to this server. */
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

  /** Follows the APIServices until `signal` is aborted; then resolves. */
  async run(signal: AbortSignal): Promise<void> {
    if (!this.#managed) return;
    await Promise.all(this.#controllers.map((controller) => controller.run(signal)));
  }

  /** For the metrics; empty when the bundles are not ours to keep. */
  *trust(): Generator<readonly [apiService: string, trusted: boolean]> {
    if (!this.#managed) return;
    for (const { name, trusted } of this.#controllers) yield [name, trusted];
  }

  /**
   * The text of a readiness check that never fails: a server taken out of its Service because it is not registered could
   * not become registered.
   */
  describe(): string {
    if (!this.#managed) return 'registration.manageCABundle is false: spec.caBundle is left alone';
    return this.#controllers.map((controller) => controller.state).join('; ');
  }
}
