// Names of sessions that can be told from invented ones without asking the cluster: a part of each is a MAC. It proves
// nothing about the session, which has a MAC of its own; it only keeps strangers from spending the lookups of others.
import type { KeyRing } from '../keys/key-ring.ts';
import type { RandomBytes } from '../keys/random-bytes.ts';
import { sameHash } from './refresh-token.ts';

const PURPOSE = 'session-id';
/** Characters of base 32: 60 random bits, then 40 of the MAC. */
const RANDOM_LENGTH = 's-'.length + 12;
const MARK_LENGTH = 8;
const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567';
const SESSION_ID = /^s-[a-z2-7]{20}$/;

export function isSessionID(text: string): boolean {
  return SESSION_ID.test(text);
}

/** 100 random bits; see SessionIDs for the ids that are given out. */
export function newSessionID(random: RandomBytes): string {
  return sessionIDOf(random(20));
}

/** Five bits of each of 20 bytes. */
export function sessionIDOf(bytes: Uint8Array): string {
  return `s-${base32(bytes)}`;
}

export class SessionIDs {
  readonly #keys: Pick<KeyRing, 'macs'>;

  constructor(keys: Pick<KeyRing, 'macs'>) {
    this.#keys = keys;
  }

  /** Throws ServiceUnavailable (StatusError) while there is no key. */
  next(random: RandomBytes): string {
    const start = newSessionID(random).slice(0, RANDOM_LENGTH);
    const [newest] = this.#keys.macs(PURPOSE, start);
    return `${start}${mark(newest)}`;
  }

  /** Whether a key that is still kept made it. */
  isOurs(id: string): boolean {
    if (!isSessionID(id)) return false;
    const start = id.slice(0, RANDOM_LENGTH);
    const shown = id.slice(RANDOM_LENGTH);
    return this.#keys.macs(PURPOSE, start).some((mac) => sameHash(mark(mac), shown));
  }
}

function mark(mac: Buffer): string {
  return base32(mac.subarray(0, MARK_LENGTH));
}

function base32(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => BASE32[byte & 31]).join('');
}
