// OpenLDAP with people and groups, for tests. Entries are written over the wire, because the overlay memberof sees only such writes.
import { join } from 'node:path';
import { Attribute, Change, Client, Control } from 'ldapts';
import { missingForDirectory, ROOT, type Slapd, SUFFIX, startSlapd } from '../../../hack/directory/slapd.ts';
import { issueServer, newCA } from '../certificates.ts';
import { scratchFolder } from '../scratch.ts';

export type Attributes = Record<string, string | string[] | Buffer>;

/** Control that allows changes of operational attributes. */
const RELAX_RULES = '1.3.6.1.4.1.4203.666.5.12';

export const READER = { dn: `cn=reader,${SUFFIX}`, password: 'reader-password' };
export const PEOPLE = `ou=people,${SUFFIX}`;
export const GROUPS = `ou=groups,${SUFFIX}`;

/** For a `before` hook. Skips the tests without OpenLDAP, with one line that has the reason; with CI=true they fail instead. */
export async function requireDirectory(test: Pick<Mocha.Context, 'skip'>): Promise<void> {
  const { env } = process;
  const options = { env, signal: new AbortController().signal, progress: () => undefined };
  const missing = await missingForDirectory(options);
  if (missing === undefined) return;
  if (env['CI'] === 'true') throw new Error(missing);
  console.log(`skipped: ${missing}`);
  test.skip();
}

export class TestDirectory {
  readonly slapd: Slapd;
  readonly address: string;
  /** CA of the server certificate, PEM. */
  readonly ca: string;
  readonly folder: string;
  readonly #stack: AsyncDisposableStack;

  private constructor(
    slapd: Slapd,
    address: string,
    ca: string,
    folder: string,
    stack: AsyncDisposableStack,
  ) {
    this.slapd = slapd;
    this.address = address;
    this.ca = ca;
    this.folder = folder;
    this.#stack = stack;
  }

  /** With the service accounts, and the folders of people and groups, but nobody else. `address`: an IP address of this machine. */
  static async start(address = '127.0.0.1'): Promise<TestDirectory> {
    const stack = new AsyncDisposableStack();
    const { path } = stack.use(await scratchFolder());
    const ca = await newCA('directory-ca');
    const certificate = await issueServer(ca, address);
    const stop = new AbortController();
    const options = { dir: join(path, 'slapd'), address, certificate, signal: stop.signal };
    const slapd = stack.use(await startSlapd(options));
    const directory = new TestDirectory(slapd, address, ca.cert, path, stack);
    await directory.#seed();
    return directory;
  }

  get ldapPort(): number {
    return this.slapd.ldapPort;
  }

  get ldapsPort(): number {
    return this.slapd.ldapsPort;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync();
  }

  async add(dn: string, attributes: Attributes): Promise<void> {
    const list = Object.entries(attributes).map(
      ([type, value]) =>
        new Attribute({
          type,
          values: typeof value === 'string' ? [value] : Buffer.isBuffer(value) ? [value] : value,
        }),
    );
    await this.#asRoot((client) => client.add(dn, list));
  }

  person(uid: string, attributes: Attributes = {}): Promise<void> {
    const known = { objectClass: ['inetOrgPerson'], uid, cn: uid, sn: uid, userPassword: `${uid}-password` };
    return this.add(`cn=${escaped(uid)},${PEOPLE}`, { ...known, ...attributes });
  }

  group(name: string, members: readonly string[], folder = GROUPS): Promise<void> {
    return this.add(`cn=${name},${folder}`, {
      objectClass: ['groupOfNames'],
      cn: name,
      member: [...members],
    });
  }

  async replace(dn: string, type: string, ...values: string[]): Promise<void> {
    const change = new Change({ operation: 'replace', modification: new Attribute({ type, values }) });
    await this.#asRoot((client) => client.modify(dn, change));
  }

  rename(dn: string, renamed: string): Promise<void> {
    return this.#asRoot((client) => client.modifyDN(dn, renamed));
  }

  remove(dn: string): Promise<void> {
    return this.#asRoot((client) => client.del(dn));
  }

  disable(dn: string): Promise<void> {
    return this.replace(dn, 'pwdAccountLockedTime', '000001010000Z');
  }

  setPassword(dn: string, password: string): Promise<void> {
    return this.replace(dn, 'userPassword', password);
  }

  /** The password counts as ten years old. */
  async backdatePassword(dn: string): Promise<void> {
    const modification = new Attribute({ type: 'pwdChangedTime', values: ['20160101000000Z'] });
    const change = new Change({ operation: 'replace', modification });
    await this.#asRoot((client) => client.modify(dn, change, new Control(RELAX_RULES, { critical: true })));
  }

  requireNewPassword(dn: string): Promise<void> {
    return this.replace(dn, 'pwdReset', 'TRUE');
  }

  pause(): Promise<void> {
    return this.slapd.pause();
  }

  resume(): void {
    this.slapd.resume();
  }

  async #asRoot(work: (client: Client) => Promise<void>): Promise<void> {
    const { ldapsPort } = this.slapd;
    const client = new Client({ url: `ldaps://${this.address}:${ldapsPort}`, tlsOptions: { ca: this.ca } });
    try {
      await client.bind(ROOT.dn, ROOT.password);
      await work(client);
    } finally {
      await client.unbind();
    }
  }

  async #seed(): Promise<void> {
    await this.add(SUFFIX, { objectClass: ['dcObject', 'organization'], dc: 'example', o: 'example' });
    await this.add(PEOPLE, { objectClass: ['organizationalUnit'], ou: 'people' });
    await this.add(GROUPS, { objectClass: ['organizationalUnit'], ou: 'groups' });
    const { password: userPassword } = READER;
    await this.add(READER.dn, { objectClass: ['person'], cn: 'reader', sn: 'reader', userPassword });
    await this.add(`cn=policy,${SUFFIX}`, {
      objectClass: ['pwdPolicy', 'device'],
      cn: 'policy',
      pwdAttribute: 'userPassword',
      pwdLockout: 'TRUE',
      pwdMaxFailure: '5',
      pwdMustChange: 'TRUE',
    });
  }
}

function escaped(value: string): string {
  return value.replaceAll(/[,+"\\<>;#=]/g, '\\$&');
}
