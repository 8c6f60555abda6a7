import type { AccountRules } from './identities.ts';
import type { Provider } from './provider.ts';

/** A provider with the rules for its people. */
export interface ConfiguredProvider<Kind extends Provider = Provider> {
  readonly provider: Kind;
  readonly rules: AccountRules;
  /** Time after the last confirmation of a person in which an outage is tolerated, in ms. */
  readonly outageToleranceMs: number;
}

/** A provider that a person can choose on a page. */
export type ProviderChoice = Pick<Provider, 'name' | 'displayName' | 'problem'>;
