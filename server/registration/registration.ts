// Registration: keeps what kube-apiserver has to know of this server up to date, that is `spec.caBundle` of its
// APIServices. Creating and deleting APIServices is the installation's business (manifests/), serving certificates the
// listener's; the connection to the cluster comes from server/cluster.
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
   * The text of a readiness check, which never fails: a server that is taken out of its Service because it is not
   * registered could not become registered.
   */
  describe(): string {
    if (!this.#managed) return 'registration.manageCABundle is false: spec.caBundle is left alone';
    return this.#controllers.map((controller) => controller.state).join('; ');
  }
}
