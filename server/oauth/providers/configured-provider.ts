import type { AccountRules } from './identities.ts';
import type { PasswordProvider } from './provider.ts';

/** A provider with the rules for its people. */
export interface ConfiguredProvider {
  readonly provider: PasswordProvider;
  readonly rules: AccountRules;
  /** Time after the last confirmation of a person in which an outage is tolerated, in ms. */
  readonly outageToleranceMs: number;
}
