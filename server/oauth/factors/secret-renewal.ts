// Encrypts TOTP secrets again after each rotation of the keys, so that no secret is lost with an old key. Only the leader does this.
import type { Logger } from 'pino';
import { Wakeup } from '../../concurrency/wakeup.ts';
import type { SecretKeyRing } from '../keys/secret-key-ring.ts';
import type { AuthenticatorsStore } from './authenticators-store.ts';
import type { TOTPSecrets } from './totp.ts';

interface SecretRenewalOptions {
  readonly authenticators: Pick<AuthenticatorsStore, 'synced' | 'all' | 'update'>;
  readonly secrets: Pick<TOTPSecrets, 'renewed'>;
  readonly keys: Pick<SecretKeyRing, 'ready' | 'subscribe'>;
  readonly log: Pick<Logger, 'info' | 'warn'>;
}

/** Maximum time between two passes, which find the secrets of a failed one. */
const INTERVAL_MS = 10 * 60_000;

/** Runs until `signal` is aborted; never throws. */
export async function renewSecrets(options: SecretRenewalOptions, signal: AbortSignal): Promise<void> {
  const { keys, log } = options;
  const wakeup = new Wakeup();
  const unsubscribe = keys.subscribe(() => wakeup.wake());
  try {
    do {
      const renewed = await renewAll(options, signal).catch((err: unknown) => {
        if (!signal.aborted) log.warn({ err }, 'cannot encrypt the secrets of authenticator apps again');
        return 0;
      });
      if (renewed > 0)
        log.info({ secrets: renewed }, 'secrets of authenticator apps encrypted with the new key');
    } while (await wakeup.next(signal, INTERVAL_MS));
  } finally {
    unsubscribe();
  }
}

/** Encrypts all secrets that are not encrypted with the newest key; returns their number. */
async function renewAll(
  { authenticators, secrets, keys }: Omit<SecretRenewalOptions, 'log'>,
  signal: AbortSignal,
): Promise<number> {
  if (!keys.ready || !authenticators.synced) return 0;
  let renewed = 0;
  for (const { user, factors } of [...authenticators.all()]) {
    const sealed = factors.totp?.secret;
    if (sealed === undefined || (await secrets.renewed(user, sealed)) === undefined) continue;
    await authenticators.update(
      user,
      async (current) => {
        const secret = current.totp && (await secrets.renewed(user, current.totp.secret));
        return current.totp && secret !== undefined
          ? { ...current, totp: { ...current.totp, secret } }
          : undefined;
      },
      signal,
    );
    renewed++;
  }
  return renewed;
}
