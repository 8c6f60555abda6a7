// Session ids with an embedded MAC, so that invented ids are rejected without a read of the cluster. The MAC proves
// nothing about the session, which has a MAC of its own.
import type { KeyRing, RandomBytes } from '../keys/key-ring.ts';
import { sameHash } from './refresh-token.ts';

const PURPOSE = 'session-id';
/** Base32 characters: 60 random bits, then 40 bits of the MAC. */
const RANDOM_LENGTH = 's-'.length + 12;
const MAC_LENGTH = 8;
const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567';
const SESSION_ID = /^s-[a-z2-7]{20}$/;

export function isSessionID(text: string): boolean {
  return SESSION_ID.test(text);
}

/** An id of 100 random bits without a MAC. */
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
    return `${start}${shortMac(newest)}`;
  }

  /** Whether the MAC is valid under any current MAC key. */
  isGenuine(id: string): boolean {
    if (!isSessionID(id)) return false;
    const start = id.slice(0, RANDOM_LENGTH);
    const presented = id.slice(RANDOM_LENGTH);
    return this.#keys.macs(PURPOSE, start).some((mac) => sameHash(shortMac(mac), presented));
  }
}

function shortMac(mac: Buffer): string {
  return base32(mac.subarray(0, MAC_LENGTH));
}

function base32(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => BASE32[byte & 31]).join('');
}
