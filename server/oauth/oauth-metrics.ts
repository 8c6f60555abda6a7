// Prometheus metrics of the authorization server. Label values never come from client input.
import { Counter, Gauge, type Registry } from 'prom-client';
import type { LoginMethod, LoginOutcome } from './passwords/login-records.ts';

export class OAuthMetrics {
  readonly #logins: Counter<'method' | 'outcome' | 'client'>;
  readonly #tokenRequests: Counter<'grant_type' | 'error'>;
  readonly #refreshes: Counter<'client' | 'outcome'>;
  readonly #removals: Counter<'reason'>;
  readonly #defaultClient: Gauge;

  /** `throttled`: the number of entries in the throttle. */
  constructor(registry: Registry, throttled: () => number = () => 0) {
    const registers = [registry];
    this.#logins = new Counter({
      name: 'oauth_logins_total',
      help: 'Sign-ins by method, client and outcome: `success`, `unknown_user`, `no_password`, `wrong_password`, `disabled`, `expired`, `must_change`, `restricted`, `throttled`, `unavailable` (the password could not be verified), `second_factor_required`, `wrong_code`, or a refusal of a person of an identity provider.',
      labelNames: ['method', 'outcome', 'client'],
      registers,
    });
    this.#tokenRequests = new Counter({
      name: 'oauth_token_requests_total',
      help: 'Requests to the token endpoint, by grant type and error code.',
      labelNames: ['grant_type', 'error'],
      registers,
    });
    this.#refreshes = new Counter({
      name: 'oauth_refreshes_total',
      help: 'Refreshes by client and outcome: `rotated`, `repeated` (the new token was sent again), or `reused` (the session was terminated).',
      labelNames: ['client', 'outcome'],
      registers,
    });
    this.#removals = new Counter({
      name: 'oauth_sessions_removed_total',
      help: 'Invalid sessions deleted by the leader, by reason.',
      labelNames: ['reason'],
      registers,
    });
    this.#defaultClient = new Gauge({
      name: 'oauth_default_client_in_use',
      help: '1 while the default client with its well-known secret is in use.',
      registers,
    });

    registry.registerMetric(
      new Gauge({
        name: 'oauth_throttle_entries',
        help: 'Accounts and addresses with failed sign-ins.',
        registers: [],
        collect() {
          this.set(throttled());
        },
      }),
    );
  }

  login(labels: {
    readonly method: LoginMethod;
    readonly outcome: LoginOutcome;
    readonly client: string;
  }): void {
    this.#logins.inc({ ...labels });
  }

  /** `error`: empty on success. */
  tokenRequest(grantType: string, error: string): void {
    this.#tokenRequests.inc({ grant_type: grantType, error });
  }

  refreshed(client: string): void {
    this.#refreshes.inc({ client, outcome: 'rotated' });
  }

  repeated(client: string): void {
    this.#refreshes.inc({ client, outcome: 'repeated' });
  }

  reused(client: string): void {
    this.#refreshes.inc({ client, outcome: 'reused' });
  }

  sessionRemoved(reason: string): void {
    this.#removals.inc({ reason });
  }

  defaultClient(inUse: boolean): void {
    this.#defaultClient.set(inUse ? 1 : 0);
  }
}
