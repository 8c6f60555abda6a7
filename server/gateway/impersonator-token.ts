// Token of the ServiceAccount with which the gateway impersonates callers. The server requests it with TokenRequest,
// and requests a new one before it expires.
import type { Logger } from 'pino';
import { StatusError } from '../../apis/meta/v1/errors.ts';
import { messageOf } from '../../apis/reading/thrown-value.ts';
import { recordIn } from '../../apis/reading/unknown-value.ts';
import type { ClusterClient } from '../cluster/connection/client.ts';
import { orAborted } from '../concurrency/or-aborted.ts';

/** The ServiceAccount with which the gateway impersonates callers, in the namespace of the server. The manifests create it. */
export const IMPERSONATOR = 'ks-apiserver-impersonator';

export interface ImpersonatorTokenOptions {
  readonly client: Pick<ClusterClient, 'json'>;
  readonly namespace: string;
  readonly serviceAccount: string;
  readonly log: Logger;
  /** Aborts pending requests. */
  readonly signal: AbortSignal;
  /** Ms of a monotonic clock. */
  readonly now?: () => number;
}

/** The minimum of Kubernetes. A policy of the manifests limits the tokens that the server gets to this lifetime. */
export const LIFETIME_SECONDS = 600;
/** The token is replaced after this part of its lifetime. */
const REPLACE_AFTER = 0.8;

interface IssuedToken {
  readonly text: string;
  readonly replaceAt: number;
}

export class ImpersonatorToken {
  readonly #options: ImpersonatorTokenOptions;
  readonly #now: () => number;
  #current: IssuedToken | undefined;
  /** Message of the last request for a token, if it failed. */
  #failure: string | undefined;
  #pending: Promise<IssuedToken> | undefined;

  constructor(options: ImpersonatorTokenOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
  }

  /** Requests a token, so that `describe` has the state before the first caller. */
  async run(signal: AbortSignal): Promise<void> {
    try {
      await this.get(signal);
    } catch (error) {
      if (!signal.aborted) this.#options.log.warn(messageOf(error));
    }
  }

  /** One sentence for `/readyz?verbose`. */
  describe(): string {
    const { namespace, serviceAccount } = this.#options;
    return this.#failure ?? `impersonates callers with ServiceAccount ${namespace}/${serviceAccount}`;
  }

  /** `rejected`: a token that kube-apiserver has rejected. Throws ServiceUnavailable without a token. */
  get(signal: AbortSignal, rejected?: string): string | Promise<string> {
    const current = this.#current;
    if (current && current.text !== rejected && this.#now() < current.replaceAt) return current.text;
    this.#pending ??= this.#request()
      .then(
        (token) => {
          this.#failure = undefined;
          return token;
        },
        (error: unknown) => {
          this.#failure = messageOf(error);
          throw error;
        },
      )
      .finally(() => {
        this.#pending = undefined;
      });
    return orAborted(this.#pending, signal).then(({ text }) => text);
  }

  async #request(): Promise<IssuedToken> {
    const { client, namespace, serviceAccount, signal } = this.#options;
    const requestedAt = this.#now();
    try {
      const response = await client.json({
        method: 'POST',
        path: `/api/v1/namespaces/${namespace}/serviceaccounts/${serviceAccount}/token`,
        json: {
          apiVersion: 'authentication.k8s.io/v1',
          kind: 'TokenRequest',
          spec: { expirationSeconds: LIFETIME_SECONDS },
        },
        signal,
      });
      const token = recordIn(response, 'status')['token'];
      // The granted duration; the time of expiry is one of another clock.
      const seconds = recordIn(response, 'spec')['expirationSeconds'];
      if (typeof token !== 'string' || typeof seconds !== 'number')
        throw new Error('the response has no token');
      this.#current = { text: token, replaceAt: requestedAt + seconds * 1000 * REPLACE_AFTER };
      return this.#current;
    } catch (cause) {
      if (cause instanceof StatusError && cause.code === 503) throw cause;
      // Without `Retry-After`: kubectl would repeat the request for ten seconds before it prints the message.
      throw new StatusError(
        503,
        'ServiceUnavailable',
        `the gateway cannot impersonate callers: no token of ServiceAccount ${namespace}/${serviceAccount}; install the component gateway-impersonation`,
        undefined,
        { cause },
      );
    }
  }
}
