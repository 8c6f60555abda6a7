// Composition of the throttle: what it counts in this process, and what it shares with other replicas.
import type { Logger } from 'pino';
import type { ClusterClient } from '../../cluster/connection/client.ts';
import { LoginThrottle, type LoginThrottleOptions, type ThrottleLimits } from './login-throttle.ts';
import { networkOf } from './network.ts';
import { SharedFailures } from './shared-failures.ts';
import type { Macs } from './throttle-record.ts';

export interface SharedThrottleOptions {
  readonly limits: ThrottleLimits;
  readonly patience: NonNullable<LoginThrottleOptions['patience']>;
  readonly keys: Macs & {
    /** Called when the keys are known, and at each change. */
    subscribe(changed: () => void): () => void;
  };
  readonly sessions: {
    /** Those of an account that are open now, with the addresses that they were opened from. */
    ofUser(account: string): readonly { readonly source: string }[];
  };
  readonly client: ClusterClient;
  readonly namespace: string;
  readonly log: Pick<Logger, 'debug' | 'info' | 'warn'>;
}

export interface SharedThrottle {
  readonly logins: LoginThrottle;
  /** Until `signal` is aborted; never throws. */
  run(signal: AbortSignal): Promise<void>;
}

/** Of the ConfigMap. */
const THROTTLE_STATE = 'ks-apiserver-login-throttle';

export function newSharedThrottle(options: SharedThrottleOptions): SharedThrottle {
  const { limits, patience, keys, sessions, client, namespace, log } = options;
  const logins = new LoginThrottle({
    limits,
    patience,
    digest: (kind, value) => digest(keys, kind, value),
    isSignedIn: (account, network) =>
      sessions.ofUser(account).some(({ source }) => networkOf(source) === network),
    changed: (record) => shared.save(record),
  });
  const shared = new SharedFailures({
    client,
    namespace,
    name: THROTTLE_STATE,
    macs: keys,
    merge: (record) => logins.merge(record),
    forgive: () => {
      log.info({ configMap: `${namespace}/${THROTTLE_STATE}` }, 'deleted: all failed sign-ins are forgiven');
      logins.forgive();
    },
    lifetimeMs: limits.reset,
    log,
  });
  return {
    logins,
    run: async (signal) => {
      const unsubscribe = keys.subscribe(() => shared.refresh());
      await shared.run(signal);
      unsubscribe();
    },
  };
}

/**
 * A key of a ConfigMap: who reads it learns neither names nor addresses. With the newest MAC key, so that counting
 * begins anew when that one is replaced.
 */
function digest(keys: Macs, kind: 'account' | 'source', value: string): string {
  const mac = keys.mac(`login-throttle-${kind}`, value);
  const colon = mac.lastIndexOf(':');
  return `${kind}-${mac.slice(0, colon).slice(0, 16)}-${mac.slice(colon + 1).slice(0, 32)}`;
}
