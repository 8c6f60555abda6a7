// An identity provider `ldap` that is connected to a directory of a test.
import pino from 'pino';
import { Admission } from '../../../server/admission/admission.ts';
import { NEVER_ABORTED } from '../../../server/concurrency/aborted.ts';
import {
  LDAP_TIMING,
  LDAPProvider,
  type LDAPProviderOptions,
} from '../../../server/oauth/providers/ldap/ldap-provider.ts';
import {
  type DirectorySchema,
  type LDAPSettings,
  ldapSettings,
} from '../../../server/oauth/providers/ldap/ldap-settings.ts';
import type { AuthenticatedPerson, PasswordRejection } from '../../../server/oauth/providers/provider.ts';
import { running } from '../running.ts';
import { until } from '../until.ts';
import { type Attributes, GROUPS, PEOPLE, READER } from './directory.ts';

/** A directory whose people and groups a test changes. */
export interface ChangeableDirectory extends AsyncDisposable {
  /** CA of the server certificate, PEM. */
  readonly ca: string;
  readonly ldapPort: number;
  readonly ldapsPort: number;
  /** With the password `NAME-password`. */
  person(name: string, attributes?: Attributes): Promise<void>;
  group(name: string, members: readonly string[], folder?: string): Promise<void>;
  replace(dn: string, type: string, ...values: string[]): Promise<void>;
  rename(dn: string, renamed: string): Promise<void>;
  remove(dn: string): Promise<void>;
  disable(dn: string): Promise<void>;
  setPassword(dn: string, password: string): Promise<void>;
  requireNewPassword(dn: string): Promise<void>;
  /** Its sockets stay open, and it does not respond. */
  pause(): Promise<void>;
  resume(): void;
}

export type Changes = Partial<Omit<LDAPSettings, 'users' | 'groups'>> & {
  readonly users?: Partial<LDAPSettings['users']>;
  readonly groups?: Partial<LDAPSettings['groups']>;
};

export class StartedProvider implements AsyncDisposable {
  readonly provider: LDAPProvider;
  readonly #loop: AsyncDisposable;

  private constructor(provider: LDAPProvider) {
    this.provider = provider;
    this.#loop = running((signal) => provider.run(signal));
  }

  /** Has checked the directory. The settings are those of the schema, with `changes`. */
  static async start(
    { ca, ldapsPort }: Pick<ChangeableDirectory, 'ca' | 'ldapsPort'>,
    schema: DirectorySchema,
    { users, groups, ...changes }: Changes = {},
    options: Partial<LDAPProviderOptions> = {},
  ): Promise<StartedProvider> {
    const settings = ldapSettings({
      schema,
      hosts: [`localhost:${ldapsPort}`],
      tls: 'ldaps',
      caFile: '',
      bindDN: READER.dn,
      bindPasswordRef: { name: 'directory', key: 'password' },
      userSearch: { base: PEOPLE, filter: '', loginAttributes: [], nameAttribute: '', idAttribute: '' },
      groupSearch: { base: GROUPS, filter: '', lookup: 'member', nameAttribute: 'cn' },
    });
    const provider = new LDAPProvider({
      name: 'company',
      displayName: 'Company account',
      settings: {
        ...settings,
        ...changes,
        users: { ...settings.users, ...users },
        groups: { ...settings.groups, ...groups },
      },
      bindPassword: () => READER.password,
      ca: async () => ca,
      seats: new Admission().pool('directory', { capacity: 8, sharing: 'queue' }),
      log: pino({ enabled: false }),
      now: Date.now,
      timing: { ...LDAP_TIMING, retryMs: 50 },
      ...options,
    });
    const started = new StartedProvider(provider);
    await until(() => provider.problem?.reason !== 'not checked yet');
    return started;
  }

  [Symbol.asyncDispose](): PromiseLike<void> {
    return this.#loop[Symbol.asyncDispose]();
  }

  signIn(user: string, password = `${user}-password`): Promise<AuthenticatedPerson | PasswordRejection> {
    return this.provider.signIn({ user, password, resolved: async () => undefined, signal: NEVER_ABORTED });
  }

  async signedIn(user: string, password?: string): Promise<AuthenticatedPerson> {
    const result = await this.signIn(user, password);
    if (typeof result === 'string') throw new Error(`rejected: ${result}`);
    return result;
  }

  revalidate({ person, upstream }: AuthenticatedPerson) {
    const { issuer, subject } = person;
    return this.provider.revalidate({ issuer, subject, upstream }, { signal: NEVER_ABORTED });
  }

  /** `valid`, or why the person may no longer use a session. */
  async stateOf(person: AuthenticatedPerson): Promise<string> {
    const result = await this.revalidate(person);
    return typeof result === 'string' ? result : 'valid';
  }
}
