// Tasks of the leader, elected by a Lease: rotating the keys and deleting invalid sessions.
import type { Logger } from 'pino';
import type { ClusterClient } from '../cluster/connection/client.ts';
import { LeaderElection } from '../cluster/election/leader-election.ts';
import { KeyRotator, type KeyRotatorOptions } from './keys/key-rotator.ts';
import type { SecretLocation } from './keys/key-secret.ts';
import { SessionReaper, type SessionReaperOptions } from './sessions/session-reaper.ts';
import type { OAuthSettings } from './settings.ts';

export interface LeaderTasksOptions
  extends Pick<SessionReaperOptions, 'sessions' | 'users' | 'credentials' | 'now' | 'removed'> {
  readonly settings: Pick<OAuthSettings, 'clients' | 'keys'>;
  readonly client: ClusterClient;
  /** `holderIdentity` of this replica; unique. */
  readonly identity: string;
  /** The Secret of the keys. The Lease is in the same namespace. */
  readonly secret: SecretLocation;
  readonly keys: Pick<KeyRotatorOptions, 'subscribe'>;
  readonly log: Logger;
}

const LEASE = 'ks-apiserver';
/** Added to the lifetime of retired keys, because clocks differ. */
const LEEWAY_MS = 60_000;

/** `run` ends with its signal, and never throws. */
export function newLeaderTasks(options: LeaderTasksOptions): { run(signal: AbortSignal): Promise<void> } {
  const { settings, client, identity, secret, keys, log } = options;
  const { rotationInterval, publishAhead } = settings.keys;
  const election = new LeaderElection({ client, namespace: secret.namespace, name: LEASE, identity, log });
  const rotator = new KeyRotator({
    client,
    ...secret,
    policy: {
      rotationInterval,
      publishAhead,
      tokenLifetime: longest(settings, 'accessTokenLifetime') + LEEWAY_MS,
      macLifetime: longest(settings, 'sessionLifetime') + LEEWAY_MS,
    },
    subscribe: (changed) => keys.subscribe(changed),
    log,
  });
  const reaper = new SessionReaper(options);
  return {
    run: (signal) =>
      election.run(signal, async (elected) => {
        await Promise.all([rotator.run(elected), reaper.run(elected)]);
      }),
  };
}

/** In ms. */
function longest(
  { clients }: Pick<OAuthSettings, 'clients'>,
  lifetime: 'accessTokenLifetime' | 'sessionLifetime',
): number {
  return Math.max(...clients.map((client) => client[lifetime])) * 1000;
}
