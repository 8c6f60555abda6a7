// How the user of a session was authenticated: the proof, its time and its methods. session-validity.ts checks whether the proof still
// holds.
import type { Account, PasswordID } from '../users/account.ts';

/**
 * The password that was verified. The time of the session cannot replace that of the password: another replica may have changed the
 * password while this replica still verified the old one.
 */
interface PasswordProof extends PasswordID {
  readonly kind: 'password';
}

/** The person that an identity provider has confirmed. */
export interface IdentityProof {
  readonly kind: 'identity';
  /** Name and UID of the Identity object. */
  readonly name: string;
  readonly uid: string;
  /** Groups of the provider that its rules let pass, in addition to those of the user. */
  readonly groups: readonly string[];
  /** The email address, if the provider has verified it. */
  readonly verifiedEmail?: string;
  /** When the provider last confirmed the person, in ms since the epoch. */
  readonly checkedAt: number;
  /** State of the provider for the next confirmation, encrypted (keys/seal.ts). */
  readonly upstream?: string;
}

/** The passkey of the user that was verified (factors/passkeys.ts). */
interface PasskeyProof {
  readonly kind: 'passkey';
  /** Credential ID, base64url. */
  readonly id: string;
}

export type Proof = PasswordProof | IdentityProof | PasskeyProof;

export interface Authentication {
  readonly proof: Proof;
  /** When the user was authenticated, in ms since the epoch. No refresh changes it (OpenID Connect Core, 12.2). */
  readonly authTime: number;
  /** Authentication methods (RFC 8176). */
  readonly amr: readonly string[];
  /** The password that the user had, if another proof was given: its change ends the session too. */
  readonly password?: PasswordID;
  /** The value of `acr` that the client has requested, unless it is the one that follows from the methods. */
  readonly acr?: AcrValue;
}

/** The method (RFC 8176) that says that more than one factor was used. */
export const MULTIPLE_FACTORS = 'mfa';

/** Methods of a sign-in with a password only. */
export const PASSWORD_ONLY: readonly string[] = ['pwd'];

/** In the order of strength. They follow from the methods, so no sign-in stores one. */
export const ACR_VALUES = ['1fa', 'mfa'] as const;

/** How strong a sign-in was. `1fa`: a password, or the account of an identity provider. `mfa`: a passkey, or two factors (RFC 8176, `mfa`). */
export type AcrValue = (typeof ACR_VALUES)[number];

/** `acr_values`, or the value of `acr` in `claims`. */
export interface AcrRequest {
  /** In the order of preference. */
  readonly values: readonly AcrValue[];
  /** Whether a sign-in that meets none of them is an error (OpenID Connect Core, 5.5.1.1). */
  readonly essential: boolean;
}

export function isAcrValue(value: unknown): value is AcrValue {
  return ACR_VALUES.some((known) => known === value);
}

/** The first requested value that the methods meet; otherwise the strongest one. */
export function acrOf(amr: readonly string[], request?: AcrRequest): AcrValue {
  const strongest: AcrValue = amr.includes(MULTIPLE_FACTORS) ? 'mfa' : '1fa';
  return request?.values.find((value) => value === '1fa' || value === strongest) ?? strongest;
}

/** False only for an essential request. */
export function meetsAcr(amr: readonly string[], request: AcrRequest | undefined): boolean {
  return !request?.essential || request.values.includes(acrOf(amr, request));
}

/** `others`: the methods in addition to the password. */
export function byPassword(
  { uid, changedAt }: PasswordID,
  authTime: number,
  others: readonly string[] = [],
): Authentication {
  const proof = { kind: 'password', uid, changedAt } as const;
  return withMethods({ proof, authTime, amr: PASSWORD_ONLY }, others);
}

/** After more factors. */
export function withMethods(earlier: Authentication, methods: readonly string[]): Authentication {
  return { ...earlier, amr: [...new Set([...earlier.amr, ...methods])] };
}

/** `amr`: the methods of a directory. `password`: the local one of the user. */
export function byIdentity(
  proof: IdentityProof,
  password: PasswordID | undefined,
  authTime: number,
  amr: readonly string[] = PASSWORD_ONLY,
): Authentication {
  return { proof, authTime, amr, ...withPassword(password) };
}

/** By a passkey alone. `password`: the one of the user. */
export function byPasskey(
  id: string,
  amr: readonly string[],
  password: PasswordID | undefined,
  authTime: number,
): Authentication {
  return { proof: { kind: 'passkey', id }, authTime, amr, ...withPassword(password) };
}

/** The password that the user had at the authentication. */
export function passwordOf(authentication: Authentication | undefined): PasswordID | undefined {
  return authentication?.proof.kind === 'password' ? authentication.proof : authentication?.password;
}

/** Without the other fields of a Credential. */
function withPassword(password: PasswordID | undefined): Pick<Authentication, 'password'> {
  return password ? { password: { uid: password.uid, changedAt: password.changedAt } } : {};
}

/**
 * The user with the groups of the identity provider. The provider vouches only for its own address: an administrator may have given
 * the user another one.
 */
export function effectiveAccount(account: Account, proof: Proof | undefined): Account {
  if (proof?.kind !== 'identity') return account;
  const { groups, verifiedEmail } = proof;
  return {
    ...account,
    groups: [...new Set([...account.groups, ...groups])],
    ...(verifiedEmail !== undefined && verifiedEmail === account.email ? { emailVerified: true } : {}),
  };
}
