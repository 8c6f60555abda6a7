// Creates and parses the device codes and user codes of the device flow (RFC 8628).
import { hash } from 'node:crypto';
import type { RandomBytes } from '../keys/key-ring.ts';
import { sessionIDOf } from '../sessions/session-object.ts';
import type { SessionCode } from './session-code.ts';

/** Identifies the open request and the session that an approval creates. */
export interface DeviceCode extends SessionCode {
  readonly requestID: string;
  /** Ms since the epoch. Unverified until the session's hash confirms the code. */
  readonly issuedAt: number;
}

const DEVICE_CODE = /^pdc_(s-[a-z2-7]{20})_(s-[a-z2-7]{20})_([0-9a-z]{1,9})_[\w-]{43}$/;

export function newDeviceCode(
  ids: { readonly sessionID: string; readonly requestID: string },
  issuedAt: number,
  random: RandomBytes,
): DeviceCode {
  const { sessionID, requestID } = ids;
  const secret = random(32).toString('base64url');
  const text = `pdc_${sessionID}_${requestID}_${issuedAt.toString(36)}_${secret}`;
  return { text, sessionID, requestID, issuedAt };
}

export function parseDeviceCode(text: string): DeviceCode | undefined {
  const [, sessionID, requestID, issued] = DEVICE_CODE.exec(text) ?? [];
  if (sessionID === undefined || requestID === undefined || issued === undefined) return undefined;
  return { text, sessionID, requestID, issuedAt: Number.parseInt(issued, 36) };
}

// RFC 8628, 6.1: eight consonants, 34.6 bits, which withstand guessing at the throttled rate. No vowels, so that no word
// appears; no letter that resembles a digit.
const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ';
const LENGTH = 8;
const USER_CODE = new RegExp(`^[${LETTERS}]{${LENGTH}}$`);
/** Larger bytes are discarded: they would bias the first letters. */
const UNBIASED = 256 - (256 % LETTERS.length);

/** In the displayed form `BCDF-GHJK`. */
export function newUserCode(random: RandomBytes): string {
  let letters = '';
  while (letters.length < LENGTH) {
    for (const byte of random(LENGTH)) {
      if (byte < UNBIASED && letters.length < LENGTH) letters += LETTERS.charAt(byte % LETTERS.length);
    }
  }
  return displayed(letters);
}

/** Typed text in the displayed form; undefined when it is not a code. Ignores case, spaces and hyphens. */
export function parseUserCode(typed: string): string | undefined {
  if (typed.length > 64) return undefined;
  const letters = typed.toUpperCase().replaceAll(/[\s-]/g, '');
  return USER_CODE.test(letters) ? displayed(letters) : undefined;
}

/** Name of the object of an open request. Derived by a hash, so it does not reveal the code. */
export function requestID(userCode: string): string {
  const digest = hash('sha256', `device request ${userCode}`, 'buffer');
  return sessionIDOf(digest.subarray(0, 20));
}

function displayed(letters: string): string {
  return `${letters.slice(0, LENGTH / 2)}-${letters.slice(LENGTH / 2)}`;
}
