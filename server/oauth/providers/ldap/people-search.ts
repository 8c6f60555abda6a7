// Finds people in a directory, and reads what it says about them. The client is bound as the service account.

import { AndFilter, EqualityFilter, FilterParser, OrFilter, PresenceFilter, ResultCodeError } from 'ldapts';
import type { Logger } from 'pino';
import { record } from '../../../../apis/reading/unknown-value.ts';
import { type AuthenticatedPerson, ProviderUnavailable } from '../provider.ts';
import { passwordVersion, STATE_ATTRIBUTES } from './account-state.ts';
import type { DirectoryClient, Search } from './directory-client.ts';
import { type DirectoryEntry, idValue, isBelow, stableID } from './directory-entry.ts';
import { groupsOf } from './group-search.ts';
import { issuerOfDirectory, type LDAPSettings } from './ldap-settings.ts';

const EMAIL = 'mail';
const DISPLAY_NAMES = ['displayName', 'cn'] as const;
const NO_SUCH_OBJECT = 32;
/** Active Directory refers to another server if the base is not below its domain. */
const REFERRAL = 10;
const ANY_ENTRY = new PresenceFilter({ attribute: 'objectClass' });
const CURE = 'check the base and the filter, and the permissions of the service account';

/** What the next revalidation needs. */
interface KnownEntry {
  readonly dn: string;
  /** Version of the password. */
  readonly password: string;
}

export class PeopleSearch {
  readonly issuer: string;
  readonly #settings: Pick<LDAPSettings, 'users' | 'groups'>;
  readonly #log: Pick<Logger, 'warn'>;

  constructor(settings: Pick<LDAPSettings, 'users' | 'groups'>, log: Pick<Logger, 'warn'>) {
    this.issuer = issuerOfDirectory(settings.users.base);
    this.#settings = settings;
    this.#log = log;
  }

  /** The only person whose login attribute equals the name. Several people are a mistake in the directory: none of them signs in. */
  async find(client: Pick<DirectoryClient, 'search'>, user: string): Promise<DirectoryEntry | undefined> {
    const { loginAttributes } = this.#settings.users;
    const filters = loginAttributes.map((attribute) => new EqualityFilter({ attribute, value: user }));
    const found = await client.search(this.#search(new OrFilter({ filters })));
    if (found.length > 1) {
      const entries = found.map(({ dn }) => dn);
      this.#log.warn({ entries }, 'a name belongs to several people: none of them signs in');
    }
    const [entry, ...others] = found;
    return entry && others.length === 0 ? this.#readable(entry) : undefined;
  }

  /** By DN, which is fast, and by id if the person was moved, or the base was changed. */
  async findAgain(
    client: Pick<DirectoryClient, 'search'>,
    subject: string,
    known: KnownEntry | undefined,
  ): Promise<DirectoryEntry | undefined> {
    const { idAttribute, base: people } = this.#settings.users;
    if (known && isBelow(known.dn, people)) {
      const base: Search = { ...this.#search(undefined), base: known.dn, scope: 'base' };
      const [entry] = await client.search(base).catch((error: unknown) => {
        if (error instanceof ResultCodeError && error.code === NO_SUCH_OBJECT) return [];
        throw error;
      });
      if (entry && this.subjectOf(entry) === subject) return this.#readable(entry);
    }
    const value = idValue(subject, idAttribute);
    const found = await client.search(this.#search(new EqualityFilter({ attribute: idAttribute, value })));
    // A directory can ignore the case of the attribute.
    const entry = found.find((each) => this.subjectOf(each) === subject);
    return entry && this.#readable(entry);
  }

  /** Throws ProviderUnavailable if the service account sees no people, or if the base of groups does not exist. */
  async requirePeople(client: Pick<DirectoryClient, 'search'>): Promise<void> {
    const { users, groups } = this.#settings;
    const [entry] = await client.search(this.#search(undefined)).catch(withoutBase(users.base));
    if (!entry) throw new ProviderUnavailable(`the directory shows no people below ${users.base}: ${CURE}`);
    if (this.subjectOf(entry) === undefined) {
      throw new ProviderUnavailable(`the entry ${entry.dn} has no valid ${users.idAttribute}: ${CURE}`);
    }
    this.#readable(entry);
    if (groups.base === '' || groups.lookup === 'memberOf') return;
    // The permission to search below the base does not include the one to read it.
    const folder = { base: groups.base, scope: 'base', filter: ANY_ENTRY, attributes: [], limit: 1 } as const;
    await client.search(folder).catch(withoutBase(groups.base));
  }

  /** Without the permission to read the state, every account would count as enabled. */
  #readable(entry: DirectoryEntry): DirectoryEntry {
    const { stateAttribute } = this.#settings.users;
    if (stateAttribute === '' || entry.text(stateAttribute) !== undefined) return entry;
    throw new ProviderUnavailable(`the entry ${entry.dn} has no readable ${stateAttribute}: ${CURE}`);
  }

  #search(match: EqualityFilter | OrFilter | undefined): Search {
    const { users, groups } = this.#settings;
    const people = FilterParser.parseString(users.filter);
    return {
      base: users.base,
      scope: 'sub',
      filter: match ? new AndFilter({ filters: [people, match] }) : people,
      attributes: [
        users.idAttribute,
        users.nameAttribute,
        ...users.loginAttributes,
        EMAIL,
        ...DISPLAY_NAMES,
        ...STATE_ATTRIBUTES,
        ...(groups.lookup === 'memberOf' ? ['memberOf'] : []),
      ],
      binary: [users.idAttribute],
      limit: 1,
    };
  }

  subjectOf(entry: DirectoryEntry): string | undefined {
    return stableID(entry, this.#settings.users.idAttribute);
  }

  async personOf(
    client: Pick<DirectoryClient, 'search'>,
    entry: DirectoryEntry,
    subject: string,
  ): Promise<AuthenticatedPerson> {
    const settings = this.#settings;
    const known: KnownEntry = { dn: entry.dn, password: passwordVersion(entry) };
    return {
      person: {
        issuer: this.issuer,
        subject,
        name: entry.text(settings.users.nameAttribute),
        email: entry.firstText(EMAIL),
        displayName: DISPLAY_NAMES.map((name) => entry.firstText(name)).find((text) => text !== undefined),
        groups: await groupsOf(entry, settings, client),
      },
      upstream: JSON.stringify(known),
    };
  }
}

function withoutBase(base: string): (error: unknown) => never {
  return (error) => {
    const isMissing =
      error instanceof ResultCodeError && (error.code === NO_SUCH_OBJECT || error.code === REFERRAL);
    throw isMissing ? new ProviderUnavailable(`the directory has no entry ${base}: ${CURE}`) : error;
  };
}

/** Undefined for a state of an earlier version of this server. */
export function readKnownEntry(text: string | undefined): KnownEntry | undefined {
  const { dn, password } = record(text === undefined ? undefined : JSON.parse(text));
  return typeof dn === 'string' && typeof password === 'string' ? { dn, password } : undefined;
}
