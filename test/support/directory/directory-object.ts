// An object of a directory that behaves as Active Directory does: its attributes, computed ones among them, and the state of its account.
import { randomBytes } from 'node:crypto';
import type { FilterTarget } from './ldap-filter.ts';

type Value = string | Buffer;

/** Value of `accountExpires`. */
export const NEVER = '9223372036854775807';
const IN_CHAIN = '1.2.840.113556.1.4.1941';
/** Bits of `userAccountControl` and `msDS-User-Account-Control-Computed`. */
const DISABLED = 0x2;
const LOCKED = 0x10;
const PASSWORD_EXPIRED = 0x80_00_00;
const DN_SYNTAX = new Set(['member', 'memberof']);

/** 100 ns since 1601. */
export function windowsTime(ms: number): string {
  return String((BigInt(ms) + 11_644_473_600_000n) * 10_000n);
}

export function foldedDN(dn: string): string {
  return dn.toLowerCase().replaceAll(/\s*([,=])\s*/g, '$1');
}

/** Comparisons ignore case, width, and marks such as accents. */
function folded(text: string): string {
  return text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase().trim().replaceAll(/\s+/g, ' ');
}

/** What an object reads of its domain. */
export interface Domain {
  /** Rejected passwords until an account is locked; 0: never. */
  readonly lockoutThreshold: number;
  groupsOf(member: string): readonly DirectoryObject[];
  /** Called after a change of members. */
  changed(): void;
}

export class DirectoryObject implements FilterTarget {
  dn: string;
  password: string | undefined;
  restriction: '530' | '531' | undefined;
  isPasswordExpired = false;
  readonly #domain: Domain;
  readonly #attributes = new Map<string, { readonly type: string; readonly values: readonly Value[] }>();
  /** Their folded DNs. */
  members: readonly string[] = [];
  #failures = 0;

  constructor(dn: string, password: string | undefined, domain: Domain) {
    this.dn = dn;
    this.password = password;
    this.#domain = domain;
    this.set('objectGUID', [randomBytes(16)]);
    this.set('cn', [
      dn
        .slice(dn.indexOf('=') + 1)
        .replace(/(?<!\\),.*/, '')
        .replaceAll(/\\(.)/g, '$1'),
    ]);
  }

  set(type: string, values: readonly Value[]): void {
    this.#attributes.set(type.toLowerCase(), { type, values });
    if (type !== 'member') return;
    this.members = values.map((value) => foldedDN(String(value)));
    this.#domain.changed();
  }

  /** With the spelling of the name, as the server sends it. `memberOf` and the state of the account are computed. */
  attribute(name: string): { readonly type: string; readonly values: readonly Value[] } | undefined {
    const key = name.toLowerCase();
    if (key === 'memberof')
      return { type: 'memberOf', values: this.#domain.groupsOf(this.dn).map(({ dn }) => dn) };
    if (key === 'msds-user-account-control-computed') {
      const bits = (this.isPasswordExpired ? PASSWORD_EXPIRED : 0) + (this.isLocked ? LOCKED : 0);
      return { type: 'msDS-User-Account-Control-Computed', values: [String(bits)] };
    }
    return this.#attributes.get(key);
  }

  get attributeNames(): readonly string[] {
    return [...this.#attributes.keys()];
  }

  has(attribute: string): boolean {
    return (this.attribute(attribute)?.values.length ?? 0) > 0;
  }

  equals(attribute: string, value: Buffer, rule = ''): boolean | undefined {
    const text = value.toString();
    if (rule === IN_CHAIN && attribute.toLowerCase() === 'member') return this.#hasInChain(text, new Set());
    const values = rule === '' ? this.attribute(attribute)?.values : undefined;
    if (!values || values.length === 0) return undefined;
    const same = DN_SYNTAX.has(attribute.toLowerCase()) ? foldedDN : folded;
    return values.some((each) => (typeof each === 'string' ? same(each) === same(text) : each.equals(value)));
  }

  hasMember(dn: string): boolean {
    return this.members.includes(foldedDN(dn));
  }

  #hasInChain(dn: string, seen: Set<DirectoryObject>): boolean {
    if (this.hasMember(dn)) return true;
    return this.#domain.groupsOf(dn).some((group) => {
      if (seen.has(group)) return false;
      seen.add(group);
      return this.#hasInChain(group.dn, seen);
    });
  }

  renameMember(dn: string, renamed: string): void {
    const members = this.attribute('member')?.values ?? [];
    if (!this.hasMember(dn)) return;
    this.set(
      'member',
      members.map((each) => (foldedDN(String(each)) === foldedDN(dn) ? renamed : each)),
    );
  }

  get isLocked(): boolean {
    const { lockoutThreshold } = this.#domain;
    return lockoutThreshold > 0 && this.#failures >= lockoutThreshold;
  }

  /** The sub-code of a rejected bind. Those after 52e are only for the right password. */
  checkPassword(password: string): string | undefined {
    if (this.isLocked) return '775';
    if (password !== this.password) {
      this.#failures++;
      return '52e';
    }
    if ((Number(this.#text('userAccountControl')) & DISABLED) !== 0) return '533';
    const expires = this.#text('accountExpires') ?? NEVER;
    if (expires !== NEVER && expires !== '0' && BigInt(expires) <= BigInt(windowsTime(Date.now())))
      return '701';
    if (this.restriction !== undefined) return this.restriction;
    if (this.#text('pwdLastSet') === '0') return '773';
    if (this.isPasswordExpired) return '532';
    this.#failures = 0;
    return undefined;
  }

  #text(attribute: string): string | undefined {
    const [value] = this.attribute(attribute)?.values ?? [];
    return typeof value === 'string' ? value : undefined;
  }
}
