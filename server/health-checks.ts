// What /livez, /readyz and /healthz look at. Living is answering at all; ready is having what answers are made of.
import { HealthCheckError, HealthRegistry } from './endpoints/health.ts';

export interface HealthSources {
  readonly cacheSynced: () => boolean;
  readonly accessKnown: () => boolean;
  /** The front proxy that is expected, and the last one that was refused. */
  readonly describeFrontProxy: () => string;
  readonly describeRegistration: () => string;
  /** What the token handler misses; undefined when there is none. */
  readonly oauthMissing: () => readonly string[] | undefined;
  /** How the log store is; undefined when there are no log queries. */
  readonly describeLogs: () => string | undefined;
  readonly stopping: () => boolean;
}

export function healthRegistries(sources: HealthSources): readonly HealthRegistry[] {
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
          'ConfigMap kube-system/extension-apiserver-authentication was not read yet',
        );
      }
      return sources.describeFrontProxy();
    },
  };
  const registration = { name: 'registration', check: sources.describeRegistration };
  const oauth = {
    name: 'oauth',
    check: () => {
      const missing = sources.oauthMissing();
      if (missing === undefined) return 'turned off';
      if (missing.length === 0) return undefined;
      throw new HealthCheckError(`not known, or not followed for too long: ${missing.join(', ')}`);
    },
  };
  // Shown, and never a failure: without its log store the server serves everything else.
  const logs = { name: 'logs', check: () => sources.describeLogs() ?? 'turned off' };
  const shutdown = {
    name: 'shutdown',
    check: () => {
      if (sources.stopping()) throw new HealthCheckError('the server is shutting down');
    },
  };
  return [
    new HealthRegistry('livez', [ping]),
    new HealthRegistry('readyz', [ping, informers, frontProxy, registration, oauth, logs, shutdown]),
    new HealthRegistry('healthz', [ping, informers, frontProxy]),
  ];
}
