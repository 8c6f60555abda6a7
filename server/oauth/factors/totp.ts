// TOTP (RFC 6238) with the parameters that all authenticator apps support: SHA-1, six digits, 30 seconds. Secrets are encrypted for one
// user, so that a copied Authenticators object has no effect.
import { Secret, TOTP } from 'otpauth';
import type { KeyRing } from '../keys/key-ring.ts';
import { Seal } from '../keys/seal.ts';
import type { UserID } from '../users/account.ts';

const PARAMETERS = { algorithm: 'SHA1', digits: 6, period: 30 } as const;
/** 160 bits (RFC 4226, 4). */
const SECRET_BYTES = 20;
/** Accepted steps before and after the current one, because clocks differ. */
const WINDOW = 1;
const CODE = /^\d{6}$/;

/** A new secret in base32, as apps expect it. */
export function newTOTPSecret(): string {
  return new Secret({ size: SECRET_BYTES }).base32;
}

/** The text of the QR code. */
export function totpURI(secret: string, issuer: string, user: string): string {
  return new TOTP({ ...PARAMETERS, issuer, label: user, secret: Secret.fromBase32(secret) }).toString();
}

/** Whether a text has the form of a code of an app. */
export function isAppCode(text: string): boolean {
  return CODE.test(text);
}

/** The time step of a valid code; undefined for an invalid one. Compares in constant time. `now`: ms since the epoch. */
export function stepOf(code: string, secret: string, now: number): number | undefined {
  if (!isAppCode(code)) return undefined;
  const totp = new TOTP({ ...PARAMETERS, secret: Secret.fromBase32(secret) });
  const delta = totp.validate({ token: code, timestamp: now, window: WINDOW });
  return delta === null ? undefined : totp.counter({ timestamp: now }) + delta;
}

/** Encrypts secrets for the cluster. */
export class TOTPSecrets {
  readonly #seal: Seal;

  constructor(keys: Pick<KeyRing, 'macs'>) {
    this.#seal = new Seal(keys, 'TOTP secret');
  }

  /** Throws ServiceUnavailable (StatusError) while there is no key. */
  seal({ uid }: UserID, secret: string): Promise<string> {
    return this.#seal.seal(secret, uid);
  }

  /** Undefined for a secret of another user, or one whose key is not kept any more. */
  open({ uid }: UserID, sealed: string): Promise<string | undefined> {
    return this.#seal.open(sealed, uid);
  }

  /** The secret under the newest key; undefined if it is already, or cannot be opened. */
  async renewed(user: UserID, sealed: string): Promise<string | undefined> {
    if (await this.#seal.isCurrent(sealed, user.uid)) return undefined;
    const secret = await this.open(user, sealed);
    return secret === undefined ? undefined : this.seal(user, secret);
  }
}
