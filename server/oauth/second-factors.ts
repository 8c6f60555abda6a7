// The composition root of second factors: the store, the policy and the verification.
import type { Logger } from 'pino';
import { AuthenticatorsStore } from './factors/authenticators-store.ts';
import { FactorPolicy, type FactorPolicyOptions } from './factors/factor-policy.ts';
import { SecondFactor, type SecondFactorOptions } from './factors/second-factor.ts';
import { renewSecrets } from './factors/secret-renewal.ts';
import { TOTPSecrets } from './factors/totp.ts';
import type { SecretKeyRing } from './keys/secret-key-ring.ts';
import type { ObjectStoreOptions } from './users/object-store.ts';

interface SecondFactorsOptions
  extends ObjectStoreOptions,
    Omit<FactorPolicyOptions, 'authenticators'>,
    Omit<SecondFactorOptions, 'authenticators' | 'secrets'> {
  readonly keys: SecretKeyRing;
  readonly log: Logger;
}

export interface SecondFactors {
  readonly authenticators: AuthenticatorsStore;
  readonly secrets: TOTPSecrets;
  readonly factorPolicy: FactorPolicy;
  readonly secondFactor: SecondFactor;
  /** The work of the leader, until `signal` is aborted; never throws. */
  lead(signal: AbortSignal): Promise<void>;
}

export function newSecondFactors(options: SecondFactorsOptions): SecondFactors {
  const authenticators = new AuthenticatorsStore(options);
  const secrets = new TOTPSecrets(options.keys);
  const parts = { ...options, authenticators, secrets };
  return {
    authenticators,
    secrets,
    factorPolicy: new FactorPolicy(parts),
    secondFactor: new SecondFactor(parts),
    lead: (signal) => renewSecrets(parts, signal),
  };
}
