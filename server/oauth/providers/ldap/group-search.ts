// Finds the names of the groups of a person in a directory. The number of groups, and the depth of nested groups, are bounded.
import {
  AndFilter,
  EqualityFilter,
  ExtensibleFilter,
  type Filter,
  FilterParser,
  OrFilter,
  PresenceFilter,
} from 'ldapts';
import { ProviderUnavailable } from '../provider.ts';
import type { DirectoryClient } from './directory-client.ts';
import { type DirectoryEntry, isBelow } from './directory-entry.ts';
import type { LDAPSettings } from './ldap-settings.ts';

/** More groups than any allowlist should pass, and few enough for memory. */
const MAX_GROUPS = 20_000;
/** Groups that contain groups that contain groups. A cycle ends earlier, because each group is searched once. */
const MAX_DEPTH = 8;
/** Groups whose parents are searched together. */
const CHUNK = 100;
/** LDAP_MATCHING_RULE_IN_CHAIN of Active Directory. */
const IN_CHAIN = '1.2.840.113556.1.4.1941';

/** `user`: the entry of the person, with `memberOf`. The client is bound as the service account. */
export async function groupsOf(
  user: DirectoryEntry,
  { users, groups }: Pick<LDAPSettings, 'users' | 'groups'>,
  client: Pick<DirectoryClient, 'search'>,
): Promise<readonly string[]> {
  const { lookup, base } = groups;
  if (base === '') return [];
  if (lookup === 'memberOf') return namesOf(await allMemberOf(user, client), base);
  const search = (members: Filter): Promise<readonly DirectoryEntry[]> =>
    searchGroups(members, groups, client);
  const nameOf = (group: DirectoryEntry): string[] => {
    const name = group.firstText(groups.nameAttribute);
    return name === undefined ? [] : [name];
  };
  if (lookup === 'memberUid') {
    const value = user.text(users.loginAttributes[0] ?? users.nameAttribute) ?? '';
    return (await search(new EqualityFilter({ attribute: 'memberUid', value }))).flatMap(nameOf);
  }
  if (lookup === 'chain') {
    const inChain = new ExtensibleFilter({ matchType: 'member', rule: IN_CHAIN, value: user.dn });
    return (await search(inChain)).flatMap(nameOf);
  }
  return (await nestedGroups(user.dn, search)).flatMap(nameOf);
}

/** The groups of a member, and the groups that contain them. Compares DNs, because two groups can have one name. */
async function nestedGroups(
  member: string,
  search: (members: Filter) => Promise<readonly DirectoryEntry[]>,
): Promise<readonly DirectoryEntry[]> {
  const found = new Map<string, DirectoryEntry>();
  let members: readonly string[] = [member];
  for (let depth = 0; depth < MAX_DEPTH && members.length > 0; depth++) {
    const added: string[] = [];
    for (let start = 0; start < members.length; start += CHUNK) {
      const filters = members
        .slice(start, start + CHUNK)
        .flatMap((value) => [
          new EqualityFilter({ attribute: 'member', value }),
          new EqualityFilter({ attribute: 'uniqueMember', value }),
        ]);
      for (const group of await search(new OrFilter({ filters }))) {
        if (found.has(group.dn)) continue;
        found.set(group.dn, group);
        added.push(group.dn);
      }
      checkCount(found.size);
    }
    members = added;
  }
  return [...found.values()];
}

async function searchGroups(
  members: Filter,
  { base, filter, nameAttribute }: LDAPSettings['groups'],
  client: Pick<DirectoryClient, 'search'>,
): Promise<readonly DirectoryEntry[]> {
  const found = await client.search({
    base,
    scope: 'sub',
    filter: new AndFilter({ filters: [FilterParser.parseString(filter), members] }),
    attributes: [nameAttribute],
    limit: MAX_GROUPS,
  });
  checkCount(found.length);
  return found;
}

/** Reads the values that Active Directory leaves out of the first response, with `memberOf;range=1500-*`. */
async function allMemberOf(
  user: DirectoryEntry,
  client: Pick<DirectoryClient, 'search'>,
): Promise<readonly string[]> {
  const values = [...user.texts('memberOf')];
  let next = user.nextValue('memberOf');
  while (next !== undefined) {
    checkCount(next);
    const [rest] = await client.search({
      base: user.dn,
      scope: 'base',
      filter: new PresenceFilter({ attribute: 'objectClass' }),
      attributes: [`memberOf;range=${next}-*`],
      limit: 1,
    });
    const further = rest?.texts('memberOf') ?? [];
    const following = rest?.nextValue('memberOf');
    if (further.length === 0 || (following !== undefined && following <= next))
      throw new ProviderUnavailable(`the directory omits groups of ${user.dn}`);
    values.push(...further);
    next = following;
  }
  checkCount(values.length);
  return values;
}

/** The names in the first parts of DNs below `base`. */
function namesOf(dns: readonly string[], base: string): readonly string[] {
  return dns.filter((dn) => isBelow(dn, base)).flatMap((dn) => firstValue(dn) ?? []);
}

/** The value of the first part of a DN, without the escapes of RFC 4514. Undefined for several values or invalid text. */
function firstValue(dn: string): string | undefined {
  const escaped = /^[\w.-]+=((?:[^\\,+"]|\\(?:[0-9a-f]{2}|[^0-9a-f]))+)(?:,|$)/i.exec(dn)?.[1];
  if (escaped === undefined) return undefined;
  const bytes = escaped.replaceAll(/((?:\\[0-9a-f]{2})+)|\\(.)/gi, (_, hex?: string, char?: string) =>
    hex === undefined ? (char ?? '') : Buffer.from(hex.replaceAll('\\', ''), 'hex').toString('utf8'),
  );
  return bytes.trim();
}

function checkCount(count: number): void {
  if (count <= MAX_GROUPS) return;
  throw new ProviderUnavailable(
    `a person has more than ${MAX_GROUPS} groups: restrict the base or the filter of groups`,
  );
}
