// The composition root of identity providers: creates the configured ones with their secrets, and the parts that map their people to
// users. A provider that does not work affects only its own people.
import { readFile } from 'node:fs/promises';
import type { Logger } from 'pino';
import { administratorsGroup } from '../../apis/iam/v1beta1/group-version.ts';
import type { Admission } from '../admission/admission.ts';
import type { KeyRing } from './keys/key-ring.ts';
import type { ConfiguredProvider } from './providers/configured-provider.ts';
import { followSecretKey } from './providers/followed-secret.ts';
import { type AccountRules, Identities } from './providers/identities.ts';
import { LDAPProvider } from './providers/ldap/ldap-provider.ts';
import type { LDAPSettings } from './providers/ldap/ldap-settings.ts';
import { ProviderSignIn } from './providers/provider-sign-in.ts';
import { SessionFreshness } from './providers/session-freshness.ts';
import { UpstreamSeal } from './providers/upstream-seal.ts';
import type { SessionStore } from './sessions/session.ts';
import { type IdentityDirectory, IdentityStore } from './users/identity-store.ts';
import type { ObjectCacheOptions } from './users/object-cache.ts';
import type { Users } from './users/user-directory.ts';

export interface ProviderSettings {
  readonly name: string;
  readonly displayName: string;
  readonly type: 'ldap';
  readonly accounts: AccountRules['accounts'];
  readonly groups: AccountRules['groups'];
  readonly outageToleranceMs: number;
  readonly ldap: LDAPSettings;
}

export interface IdentityProvidersOptions extends ObjectCacheOptions {
  readonly settings: readonly ProviderSettings[];
  readonly platform: { readonly name: string; readonly namespace: string };
  readonly users: Users;
  readonly sessions: Pick<SessionStore, 'ofUser' | 'delete'>;
  readonly keys: KeyRing;
  readonly admission: Pick<Admission, 'pool'>;
  readonly log: Logger;
  /** Ms since the epoch. */
  readonly now: () => number;
}

/** Concurrent conversations with one directory, and those that wait for one. */
const CONVERSATIONS = 16;
const WAITING = 64;
const WAIT_MS = 5_000;

type Run = (signal: AbortSignal) => Promise<void>;

export class IdentityProviders {
  readonly directory: IdentityDirectory;
  /** Undefined without providers. */
  readonly signIn: ProviderSignIn | undefined;
  readonly freshness: SessionFreshness;
  readonly #providers: readonly ConfiguredProvider[];
  readonly #runs: readonly Run[];

  constructor(options: IdentityProvidersOptions) {
    const { keys } = options;
    const created = options.settings.map((settings) => newLDAPProvider(settings, options));
    const providers = created.map(({ configured }) => configured);
    const store = new IdentityStore(options);
    const seal = new UpstreamSeal(keys);
    const administrators = administratorsGroup(options.platform.name);
    const identities = new Identities({ ...options, administrators, store, seal });
    this.#providers = providers;
    // Without providers, no identity is valid, and the cluster need not know the resource.
    const isUsed = providers.length > 0;
    this.#runs = [
      ...(isUsed ? [(signal: AbortSignal) => store.run(signal)] : []),
      ...created.map(({ run }) => run),
    ];
    this.directory = isUsed ? store : { synced: true, get: () => undefined };
    this.signIn = isUsed ? new ProviderSignIn({ ...options, providers, identities }) : undefined;
    this.freshness = new SessionFreshness({
      ...options,
      providers,
      identities,
      seal,
      directory: this.directory,
    });
  }

  /** The state of each provider, for administrators. */
  describe(): string {
    const states = this.#providers.map(
      ({ provider }) => `${provider.name}: ${provider.problem?.reason ?? 'ok'}`,
    );
    return states.length === 0 ? 'none' : states.join('; ');
  }

  /** Follows secrets and identities, and checks providers, until `signal` is aborted; never throws. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all(this.#runs.map((run) => run(signal)));
  }
}

function newLDAPProvider(
  { name, displayName, accounts, groups, outageToleranceMs, ldap }: ProviderSettings,
  { client, platform, admission, log, now }: IdentityProvidersOptions,
): { readonly configured: ConfiguredProvider; readonly run: Run } {
  const { caFile, bindPasswordRef } = ldap;
  const { namespace } = platform;
  let bindPassword: string | undefined;
  const provider = new LDAPProvider({
    name,
    displayName,
    settings: ldap,
    bindPassword: () => bindPassword,
    // Read for each connection, so that a replaced file has an effect.
    ca: async () => (caFile === '' ? undefined : readFile(caFile, 'utf8')),
    seats: admission.pool(`identity-provider-${name}`, {
      capacity: CONVERSATIONS,
      sharing: 'queue',
      waiting: WAITING,
      waitMs: WAIT_MS,
    }),
    log,
    now,
  });
  const changed = (password: string | undefined): void => {
    bindPassword = password;
    provider.check();
  };
  const run: Run = async (signal) => {
    const following = followSecretKey({ client, log }, { ...bindPasswordRef, namespace }, changed, signal);
    await Promise.all([following, provider.run(signal)]);
  };
  return { configured: { provider, rules: { name, accounts, groups }, outageToleranceMs }, run };
}
