// What one replica does for all: new keys, and no sessions that have ended. A Lease says which one.
import type { Logger } from 'pino';
import type { ClusterClient } from '../cluster/connection/client.ts';
import { LeaderElection } from '../cluster/election/leader-election.ts';
import { KeyRotator, type KeyRotatorOptions } from './keys/key-rotator.ts';
import type { SecretPlace } from './keys/key-secret.ts';
import { SessionReaper, type SessionReaperOptions } from './sessions/session-reaper.ts';
import type { OAuthSettings } from './settings.ts';

export interface ElectedWorkOptions
  extends Pick<SessionReaperOptions, 'sessions' | 'users' | 'credentials' | 'now' | 'removed'> {
  readonly settings: Pick<OAuthSettings, 'clients' | 'keys'>;
  readonly client: ClusterClient;
  /** Of this replica, as the Lease shows it; no other one has it. */
  readonly identity: string;
  /** Where the keys are kept; the Lease is in the same namespace. */
  readonly place: SecretPlace;
  readonly keys: Pick<KeyRotatorOptions, 'subscribe'>;
  readonly log: Logger;
}

const LEASE = 'ks-apiserver';
/** How much longer keys live than what they have signed, because clocks differ. */
const LEEWAY_MS = 60_000;

/** `run` ends with its signal, and never throws. */
export function newElectedWork(options: ElectedWorkOptions): { run(signal: AbortSignal): Promise<void> } {
  const { settings, client, identity, place, keys, log } = options;
  const { rotationInterval, publishAhead } = settings.keys;
  const election = new LeaderElection({ client, namespace: place.namespace, name: LEASE, identity, log });
  const rotator = new KeyRotator({
    client,
    ...place,
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
