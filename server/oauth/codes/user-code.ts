// The code that people read off one screen and type at another (RFC 8628, 6.1): eight consonants, 34.6 bits, so that
// guessing at the few that are open, at the rate that is let through, leads nowhere; no vowels, so that it spells no
// word; no letter that is taken for a digit.
import { hash } from 'node:crypto';
import type { RandomBytes } from '../keys/random-bytes.ts';
import { sessionIDOf } from '../sessions/session-ids.ts';

const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ';
const LENGTH = 8;
const CODE = new RegExp(`^[${LETTERS}]{${LENGTH}}$`);
/** Bytes from here on would make the first letters likelier than the others. */
const FAIR = 256 - (256 % LETTERS.length);

/** As it is shown: `BCDF-GHJK`. */
export function newUserCode(random: RandomBytes): string {
  let letters = '';
  while (letters.length < LENGTH) {
    for (const byte of random(LENGTH)) {
      if (byte < FAIR && letters.length < LENGTH) letters += LETTERS.charAt(byte % LETTERS.length);
    }
  }
  return shown(letters);
}

/** What was typed, as it is shown; undefined when it cannot be a code. Case, spaces and hyphens do not matter. */
export function parseUserCode(typed: string): string | undefined {
  if (typed.length > 64) return undefined;
  const letters = typed.toUpperCase().replaceAll(/[\s-]/g, '');
  return CODE.test(letters) ? shown(letters) : undefined;
}

/** The name of the object that an open request is kept in: it does not show the code, and no code has two. */
export function requestID(userCode: string): string {
  const digest = hash('sha256', `device request ${userCode}`, 'buffer');
  return sessionIDOf(digest.subarray(0, 20));
}

function shown(letters: string): string {
  return `${letters.slice(0, LENGTH / 2)}-${letters.slice(LENGTH / 2)}`;
}
