// Defines the health checks of /livez, /readyz and /healthz. An unreachable log store never fails a health check.
import { HealthCheckError, HealthRegistry } from './health.ts';

export interface HealthSources {
  readonly cacheSynced: () => boolean;
  readonly accessKnown: () => boolean;
  /** Describes the expected front proxy, and its last accepted and rejected requests. */
  readonly describeFrontProxy: () => string;
  /** False until the serving CA is loaded. */
  readonly certificateReady: () => boolean;
  readonly describeRegistration: () => string;
  /** Returns the unavailable data of the authorization server. Undefined if the authorization server is disabled. */
  readonly oauthMissing: () => readonly string[] | undefined;
  /** Describes the state of each identity provider. Undefined if the authorization server is disabled. */
  readonly describeProviders: () => string | undefined;
  /** Describes the state of the log store. Undefined if log queries are disabled. */
  readonly describeLogs: () => string | undefined;
  /** Describes whether kube-apiserver accepts the tokens that the gateway forwards. Undefined if the gateway is disabled. */
  readonly describeGateway: () => string | undefined;
  /** Describes the followed kinds, and why kinds cannot be followed. */
  readonly describeKinds: () => string;
  readonly stopping: () => boolean;
}

/** Time in ms after which a replica gets requests without its first lists: it may be the only one, and must serve discovery. */
const START_MS = 20_000;

/** `monotonic`: a clock in ms. */
export function healthRegistries(
  sources: HealthSources,
  monotonic: () => number = () => performance.now(),
): readonly HealthRegistry[] {
  const ping = { name: 'ping', check: () => {} };
  const informers = {
    name: 'informer-sync',
    check: () => {
      if (!sources.cacheSynced()) throw new HealthCheckError('the cache is not yet synced');
    },
  };
  const frontProxy = {
    name: 'front-proxy',
    check: () => {
      if (!sources.accessKnown()) {
        throw new HealthCheckError(
          'ConfigMap kube-system/extension-apiserver-authentication is not loaded yet',
        );
      }
      return sources.describeFrontProxy();
    },
  };
  // Fails, so that a rollout does not replace replicas that kube-apiserver trusts.
  const certificate = {
    name: 'certificate',
    check: () => {
      if (!sources.certificateReady()) throw new HealthCheckError('the serving CA is not loaded yet');
    },
  };
  const registration = { name: 'registration', check: sources.describeRegistration };
  const oauth = {
    name: 'oauth',
    check: () => {
      const missing = sources.oauthMissing();
      if (missing === undefined) return 'disabled';
      if (missing.length === 0) return undefined;
      throw new HealthCheckError(`not loaded, or not watched for too long: ${missing.join(', ')}`);
    },
  };
  // Never fails, because local users and those of other providers can sign in.
  const providers = { name: 'identity-providers', check: () => sources.describeProviders() ?? 'disabled' };
  // Never fails, because all requests except log queries work without the log store.
  const logs = { name: 'logs', check: () => sources.describeLogs() ?? 'disabled' };
  // Never fails, because all other requests work without the trust of kube-apiserver.
  const gateway = { name: 'gateway', check: () => sources.describeGateway() ?? 'disabled' };
  // Never fails, because a missing permission or a full budget affects only lists of some kinds.
  const kinds = { name: 'kinds', check: sources.describeKinds };
  const began = monotonic();
  let started = false;
  // The readiness probe excludes the checks of these lists, which may fail later. A new replica would respond with 503 until then.
  const start = {
    name: 'start',
    check: () => {
      const { cacheSynced, accessKnown, oauthMissing } = sources;
      const listed = (): boolean => cacheSynced() && accessKnown() && !oauthMissing()?.length;
      started ||= monotonic() - began >= START_MS || listed();
      if (!started) throw new HealthCheckError('the first lists are not complete');
    },
  };
  const shutdown = {
    name: 'shutdown',
    check: () => {
      if (sources.stopping()) throw new HealthCheckError('the server is shutting down');
    },
  };
  return [
    new HealthRegistry('livez', [ping]),
    new HealthRegistry('readyz', [
      ping,
      informers,
      frontProxy,
      certificate,
      registration,
      oauth,
      providers,
      logs,
      gateway,
      kinds,
      start,
      shutdown,
    ]),
    new HealthRegistry('healthz', [ping, informers, frontProxy]),
  ];
}
