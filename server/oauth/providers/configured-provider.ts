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
export interface ProviderChoice {
  readonly name: string;
  readonly displayName: string;
  /** Why it does not work, for users. */
  readonly notice: string | undefined;
}

export function choicesOf(providers: readonly ConfiguredProvider[]): readonly ProviderChoice[] {
  return providers.map(({ provider: { name, displayName, problem } }) => ({
    name,
    displayName,
    notice: problem?.notice,
  }));
}
