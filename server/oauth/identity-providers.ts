// The composition root of identity providers: creates the configured ones with their secrets, and the parts that map their people to
// users. A provider that does not work affects only its own people.
import type { Logger } from 'pino';
import { administratorsGroup } from '../../apis/iam/v1beta1/group-version.ts';
import type { Admission } from '../admission/admission.ts';
import { readCAFile } from '../files/text-file.ts';
import type { DirectoryLinksOptions } from './endpoints/browser/directory-links.ts';
import { NameChoice } from './endpoints/browser/name-choice.ts';
import { RedirectSignIn } from './endpoints/browser/redirect-sign-in.ts';
import type { KeyRing } from './keys/key-ring.ts';
import { Seal } from './keys/seal.ts';
import type { LoginRecords } from './passwords/login-records.ts';
import { AccountLinks } from './providers/account-links.ts';
import type { ConfiguredProvider } from './providers/configured-provider.ts';
import { followSecretKey } from './providers/followed-secret.ts';
import { GroupGrants } from './providers/group-grants.ts';
import { type AccountRules, Identities } from './providers/identities.ts';
import { LDAPProvider } from './providers/ldap/ldap-provider.ts';
import type { LDAPSettings } from './providers/ldap/ldap-settings.ts';
import { credentialRef } from './providers/oidc/client-credential.ts';
import { OIDCProvider } from './providers/oidc/oidc-provider.ts';
import type { OIDCSettings } from './providers/oidc/oidc-settings.ts';
import type { PasswordProvider, Provider, RedirectProvider } from './providers/provider.ts';
import { ProviderSignIn } from './providers/provider-sign-in.ts';
import { ProviderSignOut } from './providers/provider-sign-out.ts';
import { RefreshTokens } from './providers/refresh-tokens.ts';
import { SessionFreshness } from './providers/session-freshness.ts';
import type { SessionStore } from './sessions/session.ts';
import type { LoginThrottle } from './throttle/login-throttle.ts';
import type { CredentialDirectory } from './users/account.ts';
import { type IdentityDirectory, IdentityStore } from './users/identity-store.ts';
import type { ObjectStoreOptions } from './users/object-store.ts';
import type { Users } from './users/user-directory.ts';

interface SharedSettings {
  readonly name: string;
  readonly displayName: string;
  readonly accounts: AccountRules['accounts'];
  readonly groups: AccountRules['groups'];
  readonly outageToleranceMs: number;
}

export type ProviderSettings = SharedSettings &
  (
    | { readonly type: 'ldap'; readonly ldap: LDAPSettings }
    | { readonly type: 'oidc'; readonly oidc: OIDCSettings }
  );

interface IdentityProvidersOptions extends ObjectStoreOptions {
  readonly settings: readonly ProviderSettings[];
  readonly platform: { readonly name: string; readonly namespace: string };
  readonly users: Users;
  readonly credentials: Pick<CredentialDirectory, 'get'>;
  readonly sessions: Pick<SessionStore, 'ofUser' | 'delete'>;
  readonly keys: KeyRing;
  readonly admission: Pick<Admission, 'pool'>;
  readonly throttle: Pick<LoginThrottle, 'attempt'>;
  readonly log: Logger;
  readonly records: LoginRecords;
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
  /** Undefined without providers that verify passwords. */
  readonly signIn: ProviderSignIn | undefined;
  /** Names of the providers whose passwords are typed on pages of this server. */
  readonly withPasswords: ReadonlySet<string>;
  /** What the pages of sign-ins need. */
  readonly pages: {
    readonly redirects: RedirectSignIn;
    readonly redirectSeal: Seal;
    readonly links: AccountLinks;
    readonly names: NameChoice;
    readonly nameSeal: Seal;
    readonly providerSignOut: ProviderSignOut;
  } & Pick<DirectoryLinksOptions, 'directories' | 'throttle' | 'records'>;
  readonly freshness: SessionFreshness;
  readonly groupGrants: GroupGrants;
  readonly #providers: readonly ConfiguredProvider[];
  readonly #runs: readonly Run[];

  constructor(options: IdentityProvidersOptions) {
    const { keys } = options;
    const passwords: ConfiguredProvider<PasswordProvider>[] = [];
    const redirects: ConfiguredProvider<RedirectProvider>[] = [];
    const runs: Run[] = [];
    for (const settings of options.settings) {
      if (settings.type === 'ldap') {
        const { provider, run } = newLDAPProvider(settings, settings.ldap, options);
        passwords.push(configured(settings, provider));
        runs.push(run);
      } else {
        const { provider, run } = newOIDCProvider(settings, settings.oidc, options);
        redirects.push(configured(settings, provider));
        runs.push(run);
      }
    }
    const providers = [...passwords, ...redirects];
    const store = new IdentityStore(options);
    const seal = new Seal(keys, 'upstream state of a session');
    const administrators = administratorsGroup(options.platform.name);
    const refreshTokens = new RefreshTokens({ ...options, store, seal });
    const identities = new Identities({ ...options, administrators, store, seal, refreshTokens });
    this.#providers = providers;
    this.withPasswords = new Set(passwords.map(({ provider }) => provider.name));
    // Identities of removed providers still decide who cannot sign in with a passkey alone.
    this.#runs = [(signal) => store.run(signal), ...runs];
    // Without providers, no identity is valid, and the cluster need not know the resource.
    this.directory = providers.length > 0 ? store : { synced: true, get: () => undefined };
    this.signIn =
      passwords.length > 0 ? new ProviderSignIn({ ...options, providers: passwords, identities }) : undefined;
    const named = providers.map(({ provider }) => provider);
    const links = new AccountLinks({ ...options, providers: named, store });
    this.pages = {
      redirects: new RedirectSignIn({ ...options, providers: redirects, identities, links }),
      redirectSeal: new Seal(keys, 'redirect to a provider'),
      links,
      names: new NameChoice({ ...options, providers, identities }),
      nameSeal: new Seal(keys, 'person who chooses a user name'),
      providerSignOut: new ProviderSignOut({ providers: redirects, directory: this.directory, seal }),
      directories: this.signIn,
      throttle: options.throttle,
      records: options.records,
    };
    this.groupGrants = new GroupGrants({ ...options, providers, store });
    this.freshness = new SessionFreshness({
      ...options,
      providers,
      identities,
      seal,
      refreshTokens,
      directory: this.directory,
    });
  }

  /** The state of each provider, for administrators. */
  describe(): string {
    const states = this.#providers.map(
      ({ provider }) => `${provider.name}: ${provider.problem?.summary ?? describeWarning(provider)}`,
    );
    return states.length === 0 ? 'none' : states.join('; ');
  }

  /** Follows secrets and identities, and checks providers, until `signal` is aborted; never throws. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all(this.#runs.map((run) => run(signal)));
  }
}

function describeWarning({ warning }: Provider): string {
  return warning === undefined ? 'ok' : `ok, but ${warning}`;
}

function configured<Kind extends Provider>(
  { name, accounts, groups, outageToleranceMs }: SharedSettings,
  provider: Kind,
): ConfiguredProvider<Kind> {
  return { provider, rules: { name, accounts, groups }, outageToleranceMs };
}

function newOIDCProvider(
  { name, displayName }: SharedSettings,
  settings: OIDCSettings,
  { client, platform, log }: IdentityProvidersOptions,
): { readonly provider: RedirectProvider; readonly run: Run } {
  let secret: string | undefined;
  const provider = new OIDCProvider({ name, displayName, settings, secret: () => secret, log });
  const changed = (value: string | undefined): void => {
    secret = value;
  };
  const run: Run = async (signal) => {
    const location = { ...credentialRef(settings), namespace: platform.namespace };
    await Promise.all([followSecretKey({ client, log }, location, changed, signal), provider.run(signal)]);
  };
  return { provider, run };
}

function newLDAPProvider(
  { name, displayName }: SharedSettings,
  ldap: LDAPSettings,
  { client, platform, admission, log, now }: IdentityProvidersOptions,
): { readonly provider: PasswordProvider; readonly run: Run } {
  const { caFile, bindPasswordRef } = ldap;
  const { namespace } = platform;
  let bindPassword: string | undefined;
  const provider = new LDAPProvider({
    name,
    displayName,
    settings: ldap,
    bindPassword: () => bindPassword,
    // Read for each connection, so that a replaced file has an effect.
    ca: async () => (caFile === '' ? undefined : readCAFile(caFile)),
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
  return { provider, run };
}
