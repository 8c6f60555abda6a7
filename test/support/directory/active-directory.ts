// A directory that behaves as Active Directory does, where OpenLDAP cannot: sub-codes of rejected binds, binary ids, range retrieval, the
// rule LDAP_MATCHING_RULE_IN_CHAIN, search references and page limits. Sources: MS-ADTS and the documents of Microsoft.
import { SUFFIX } from '../../../hack/directory/slapd.ts';
import { newCA } from '../certificates.ts';
import { type Attributes, GROUPS, PEOPLE, READER } from './directory.ts';
import { DirectoryObject, type Domain, foldedDN, NEVER, windowsTime } from './directory-object.ts';
import { type LDAPConnection, LDAPServer } from './ldap-server.ts';
import {
  entryMessage,
  type LDAPRequest,
  type LDAPResult,
  referenceMessage,
  resultMessage,
  type SearchRequest,
} from './ldap-wire.ts';
import { sentAttributes } from './range-retrieval.ts';

/** MaxPageSize of a domain controller: also the limit of a search without pages. */
const MAX_PAGE = 1000;
const SUCCESS: LDAPResult = { code: 0 };
/** Domain controllers return them for each search of the whole domain. */
const REFERENCES = [
  'ldap://ForestDnsZones.example.com/DC=ForestDnsZones,DC=example,DC=com',
  'ldap://DomainDnsZones.example.com/DC=DomainDnsZones,DC=example,DC=com',
  'ldap://example.com/CN=Configuration,DC=example,DC=com',
];

export class ActiveDirectory implements AsyncDisposable, Domain {
  /** CA of the server certificate, PEM. */
  readonly ca: string;
  readonly server: LDAPServer;
  readonly #objects: Map<string, DirectoryObject>;
  /** By DN of the member; undefined after a change. */
  #groups: Map<string, { readonly group: DirectoryObject; readonly each: string }[]> | undefined;
  /** Attributes that the service account cannot read. */
  readonly hidden = new Set<string>();
  lockoutThreshold = 0;
  /** Passwords of all binds. */
  readonly passwords: string[] = [];

  private constructor(ca: string, server: LDAPServer, objects: Map<string, DirectoryObject>) {
    this.ca = ca;
    this.server = server;
    this.#objects = objects;
  }

  /** With the service account, and the folders of people and groups. */
  static async start(): Promise<ActiveDirectory> {
    const ca = await newCA('active-directory-ca');
    const directory: ActiveDirectory = new ActiveDirectory(
      ca.cert,
      await LDAPServer.start(ca, (connection, request) => directory.#respond(connection, request)),
      new Map(),
    );
    for (const dn of [SUFFIX, PEOPLE, GROUPS]) directory.#add(dn, { objectClass: ['top', 'container'] });
    directory.#add(READER.dn, { objectClass: ['top', 'user'] }, READER.password);
    return directory;
  }

  get ldapPort(): number {
    return this.server.ldapPort;
  }

  get ldapsPort(): number {
    return this.server.ldapsPort;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.server[Symbol.asyncDispose]();
  }

  /** With the password `NAME-password`. */
  async person(name: string, attributes: Attributes = {}): Promise<void> {
    const known = {
      objectClass: ['top', 'person', 'organizationalPerson', 'user'],
      sAMAccountName: name,
      sAMAccountType: '805306368',
      userPrincipalName: `${name}@example.com`,
      userAccountControl: '512',
      accountExpires: NEVER,
      pwdLastSet: windowsTime(Date.now()),
      primaryGroupID: '513',
    };
    const dn = `cn=${name.replaceAll(/[,+"\\<>;#=]/g, '\\$&')},${PEOPLE}`;
    this.#add(dn, { ...known, ...attributes }, `${name}-password`);
  }

  async group(name: string, members: readonly string[], folder = GROUPS): Promise<void> {
    const known = { objectClass: ['top', 'group'], sAMAccountName: name, sAMAccountType: '268435456' };
    this.#add(`cn=${name},${folder}`, { ...known, member: [...members] });
  }

  async replace(dn: string, type: string, ...values: string[]): Promise<void> {
    this.#of(dn).set(type, values);
  }

  async setPassword(dn: string, password: string): Promise<void> {
    const object = this.#of(dn);
    object.password = password;
    object.set('pwdLastSet', [windowsTime(Date.now() + 1)]);
  }

  disable(dn: string): Promise<void> {
    return this.replace(dn, 'userAccountControl', '514');
  }

  requireNewPassword(dn: string): Promise<void> {
    return this.replace(dn, 'pwdLastSet', '0');
  }

  /** `subCode`: 530 for a forbidden time, 531 for a forbidden computer. */
  restrictSignIn(dn: string, subCode: '530' | '531'): void {
    this.#of(dn).restriction = subCode;
  }

  /** Domain controllers mark a password that is too old, without a change of the entry. */
  expirePassword(dn: string): void {
    this.#of(dn).isPasswordExpired = true;
  }

  isLocked(dn: string): boolean {
    return this.#of(dn).isLocked;
  }

  async rename(dn: string, renamed: string): Promise<void> {
    const object = this.#of(dn);
    this.#objects.delete(foldedDN(dn));
    for (const each of this.#objects.values()) each.renameMember(dn, renamed);
    object.dn = renamed;
    this.#objects.set(foldedDN(renamed), object);
    this.changed();
  }

  async remove(dn: string): Promise<void> {
    this.#objects.delete(foldedDN(dn));
    this.changed();
  }

  async pause(): Promise<void> {
    this.server.pause();
  }

  resume(): void {
    this.server.resume();
  }

  groupsOf(member: string): readonly DirectoryObject[] {
    this.#groups ??= Map.groupBy(
      [...this.#objects.values()].flatMap((group) => group.members.map((each) => ({ group, each }))),
      ({ each }) => each,
    );
    return this.#groups.get(foldedDN(member))?.map(({ group }) => group) ?? [];
  }

  changed(): void {
    this.#groups = undefined;
  }

  #add(dn: string, attributes: Attributes, password?: string): void {
    const object = new DirectoryObject(dn, password, this);
    for (const [type, value] of Object.entries(attributes))
      object.set(type, Array.isArray(value) ? value : [value]);
    this.#objects.set(foldedDN(dn), object);
    this.changed();
  }

  #of(dn: string): DirectoryObject {
    const object = this.#objects.get(foldedDN(dn));
    if (!object) throw new Error(`no entry ${dn}`);
    return object;
  }

  #respond(connection: LDAPConnection, request: LDAPRequest): readonly Buffer[] {
    if (request.operation === 'bind') {
      return [resultMessage(request.id, 'bind', this.#bind(connection, request.name, request.password))];
    }
    return request.operation === 'search' ? this.#search(connection, request.id, request) : [];
  }

  #bind(connection: LDAPConnection, name: string, password: string): LDAPResult {
    connection.boundAs = undefined;
    this.passwords.push(password);
    if (!connection.isEncrypted && name !== '') {
      const comment =
        'The server requires binds to turn on integrity checking if SSL\\TLS are not already active';
      return { code: 8, message: windowsError('00002028', comment, '0') };
    }
    // RFC 4513, 5.1.2: a bind without a password is anonymous, and succeeds.
    if (password === '') return SUCCESS;
    const object = this.#named(name);
    const subCode = object ? object.checkPassword(password) : '525';
    if (subCode !== undefined) {
      return { code: 49, message: windowsError('80090308', 'AcceptSecurityContext error', subCode) };
    }
    connection.boundAs = object?.dn;
    return SUCCESS;
  }

  /** A bind name is a DN, a user principal name or `DOMAIN\name`. */
  #named(name: string): DirectoryObject | undefined {
    const account = /^EXAMPLE\\(.+)$/i.exec(name)?.[1];
    const byAttribute = (attribute: string, value: string) =>
      [...this.#objects.values()].find((object) => object.equals(attribute, Buffer.from(value)));
    if (account !== undefined) return byAttribute('sAMAccountName', account);
    return this.#objects.get(foldedDN(name)) ?? byAttribute('userPrincipalName', name);
  }

  #search(
    { boundAs }: LDAPConnection,
    id: number,
    { base, scope, sizeLimit, matches, attributes, page }: SearchRequest,
  ): readonly Buffer[] {
    const failed = (result: LDAPResult) => [resultMessage(id, 'search', result)];
    if (boundAs === undefined) {
      const comment =
        'In order to perform this operation a successful bind must be completed on the connection.';
      return failed({ code: 1, message: windowsError('000004DC', comment, '0') });
    }
    const folded = foldedDN(base);
    if (!folded.endsWith(SUFFIX)) {
      const message =
        "0000202B: RefErr: DSID-0310084A, data 0, 1 access points\n\tref 1: 'other.example'\n\0";
      return failed({ code: 10, message, referral: `ldap://other.example/${base}` });
    }
    if (!this.#objects.has(folded)) {
      const message = `0000208D: NameErr: DSID-0310028C, problem 2001 (NO_OBJECT), data 0, best match of:\n\t'${SUFFIX}'\n\0`;
      return failed({ code: 32, matchedDN: SUFFIX, message });
    }
    const found = [...this.#objects].flatMap(([dn, object]) => {
      const isInScope = dn === folded || (scope === 'sub' && dn.endsWith(`,${folded}`));
      return isInScope && matches(object) === true ? [object] : [];
    });
    const start = page?.cookie?.length ? page.cookie.readUInt32BE() : 0;
    const end = start + Math.min(page?.size ?? MAX_PAGE, sizeLimit || MAX_PAGE, MAX_PAGE);
    const isComplete = end >= found.length;
    const references = scope === 'sub' && folded === SUFFIX && (isComplete || !page) ? REFERENCES : [];
    const cookie = Buffer.alloc(isComplete ? 0 : 4);
    if (!isComplete) cookie.writeUInt32BE(end);
    const isCut = !isComplete && (!page || sizeLimit > 0);
    return [
      ...found
        .slice(start, end)
        .map((object) =>
          entryMessage(id, { dn: object.dn, attributes: sentAttributes(object, attributes, this.hidden) }),
        ),
      ...references.map((url) => referenceMessage(id, url)),
      resultMessage(id, 'search', isCut ? { code: 4 } : SUCCESS, page ? cookie : undefined),
    ];
  }
}

/** Domain controllers end messages with a NUL. */
function windowsError(status: string, comment: string, data: string): string {
  return `${status}: LdapErr: DSID-0C090439, comment: ${comment}, data ${data}, v4563\0`;
}
