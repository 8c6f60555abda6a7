// Composition of password sign-in: hashing with bounded concurrency, the throttle, and audit records.
import type { Logger } from 'pino';
import type { ClusterClient } from '../cluster/connection/client.ts';
import type { OAuthMetrics } from './oauth-metrics.ts';
import { DecoyHashes } from './passwords/decoy-hashes.ts';
import { hashConcurrency, PasswordHasher } from './passwords/password-hasher.ts';
import { newLoginRecords, PasswordSignIn } from './passwords/password-sign-in.ts';
import type { SessionStore } from './sessions/session.ts';
import type { OAuthSettings } from './settings.ts';
import { newSharedThrottle, type SharedThrottleOptions } from './throttle/shared-throttle.ts';
import type { CredentialStore } from './users/account.ts';
import { LastLogins } from './users/last-logins.ts';
import type { ClusterUserDirectory } from './users/user-directory.ts';

export interface PasswordSignInsOptions {
  readonly settings: Pick<OAuthSettings, 'passwords' | 'throttle'>;
  /** Cores of the machine, and threads of libuv's pool. */
  readonly machine: { readonly cores: number; readonly threads: number };
  readonly ready: () => boolean;
  readonly users: Pick<ClusterUserDirectory, 'synced' | 'get' | 'object' | 'put'>;
  readonly credentials: CredentialStore & { hashes(): Iterable<string> };
  readonly sessions: Pick<SessionStore, 'ofUser'>;
  readonly keys: SharedThrottleOptions['keys'];
  readonly client: ClusterClient;
  readonly namespace: string;
  /** API group of users. */
  readonly group: string;
  readonly metrics: OAuthMetrics;
  readonly log: Logger;
  /** Ms since the epoch. */
  readonly now: () => number;
}

export interface PasswordSignIns {
  readonly hasher: PasswordHasher;
  readonly signIn: PasswordSignIn;
  /** Runs until `signal` is aborted; never throws. */
  run(signal: AbortSignal): Promise<void>;
}

export function newPasswordSignIns(options: PasswordSignInsOptions): PasswordSignIns {
  const { settings, machine, ready, users, credentials, sessions, keys } = options;
  const { client, namespace, group, metrics, log, now } = options;
  const { memory, iterations, concurrency, queue, queueTimeout } = settings.passwords;
  const patience = { length: queue, timeoutMs: queueTimeout };
  const hasher = new PasswordHasher({
    memory,
    iterations,
    queue: { ...patience, concurrency: hashConcurrency(concurrency, machine.cores, machine.threads) },
  });
  const limits = settings.throttle;
  const throttle = newSharedThrottle({ limits, patience, keys, sessions, client, namespace, log });
  metrics.observeThrottle(() => throttle.logins.size);
  const audit = newLoginRecords(log.child({ audit: true }), metrics);
  const lastLogins = new LastLogins({ client, group, users, log, now });
  const signIn = new PasswordSignIn({
    ready,
    users,
    credentials,
    hasher,
    decoys: new DecoyHashes({
      hashes: () => credentials.hashes(),
      digest: (name) => keys.mac('login-decoy', name).split(':')[1] ?? '',
      monotonic: () => performance.now(),
    }),
    throttle: throttle.logins,
    records: {
      record: (login) => {
        audit.record(login);
        if (login.outcome === 'success' && login.user !== undefined) lastLogins.record(login.user);
      },
    },
    log,
  });
  return {
    hasher,
    signIn,
    run: async (signal) => {
      const prepared = hasher.prepare().catch((err: unknown) => log.warn({ err }, 'cannot hash passwords'));
      await Promise.all([prepared, throttle.run(signal), lastLogins.run(signal)]);
    },
  };
}
