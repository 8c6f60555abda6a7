// How the user of a session was authenticated: the proof, its time and its methods, and their fields in the Session
// object. session-validity.ts checks whether the proof still holds.
import type { SessionSpec } from '../../../apis/iam/v1beta1/session-resource.ts';
import { array, optionalText, recordIn, text } from '../../../apis/reading/unknown-value.ts';
import type { Account, PasswordID } from '../users/account.ts';
import { isUserClaim, type RequestedClaims } from '../users/user-claims.ts';

/** The password that was verified. */
export interface PasswordProof {
  readonly kind: 'password';
  /** UID of the Credential object. */
  readonly credentialUID: string;
  /**
   * When the password was set, in ms since the epoch. The time of the session cannot replace it: another replica may have
   * changed the password while this replica still verified the old one.
   */
  readonly changedAt: number;
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
export interface PasskeyProof {
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
export function byPassword(by: PasswordID, authTime: number, others: readonly string[] = []): Authentication {
  return withMethods({ proof: passwordProof(by), authTime, amr: PASSWORD_ONLY }, others);
}

/** After more factors. */
export function withMethods(earlier: Authentication, methods: readonly string[]): Authentication {
  return { ...earlier, amr: [...new Set([...earlier.amr, ...methods])] };
}

function passwordProof({ uid: credentialUID, changedAt }: PasswordID): PasswordProof {
  return { kind: 'password', credentialUID, changedAt };
}

/** `amr`: the methods of the provider, if it is trusted for them. `password`: the local one of the user. */
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
  if (authentication?.proof.kind !== 'password') return authentication?.password;
  const { credentialUID: uid, changedAt } = authentication.proof;
  return { uid, changedAt };
}

function withPassword(password: PasswordID | undefined): Pick<Authentication, 'password'> {
  return password ? { password: passwordID(password) } : {};
}

/** Without the other fields of a Credential. */
function passwordID({ uid, changedAt }: PasswordID): PasswordID {
  return { uid, changedAt };
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

/** The fields of a session that have to do with the authentication. */
interface Authenticated {
  readonly createdAt: number;
  readonly authentication?: Authentication;
  // The MAC covers these only with the authentication.
  /** Id of the browser session. */
  readonly browser?: string;
  readonly claims?: RequestedClaims;
}

/** The part of the message of the MAC. */
export function authenticationMessage(session: Authenticated): unknown[] {
  if (!session.authentication) return [];
  const { proof } = session.authentication;
  const later = laterFields(session);
  const rest = Object.keys(later).length > 0 ? [later] : [];
  if (proof.kind === 'password') return [proof.changedAt, proof.credentialUID, ...rest];
  if (proof.kind === 'passkey') return [{ passkey: proof.id }, ...rest];
  const { name, uid, groups, checkedAt, upstream = '', verifiedEmail } = proof;
  const email = verifiedEmail === undefined ? {} : { verifiedEmail };
  return [{ name, uid, groups, checkedAt, upstream, ...email }, ...rest];
}

export function authenticationFields(session: Authenticated): Partial<SessionSpec> {
  if (!session.authentication) return {};
  const { authTime, amr, browser, acr, password, claims } = laterFields(session);
  return {
    ...proofFields(session.authentication.proof),
    ...(password === undefined ? {} : passwordFields(password)),
    ...(authTime === undefined ? {} : { authTime: new Date(authTime).toISOString() }),
    ...(amr === undefined ? {} : { amr: [...amr] }),
    ...(browser === undefined ? {} : { browser }),
    ...(acr === undefined ? {} : { acr }),
    ...(claims ? { claims: { userinfo: [...claims.userinfo], idToken: [...claims.idToken] } } : {}),
  };
}

function proofFields(proof: Proof): Partial<SessionSpec> {
  if (proof.kind === 'password') {
    return passwordFields({ uid: proof.credentialUID, changedAt: proof.changedAt });
  }
  if (proof.kind === 'passkey') return { passkey: proof.id };
  const { name, uid, groups, verifiedEmail, checkedAt, upstream } = proof;
  const checkedTime = new Date(checkedAt).toISOString();
  return {
    identity: {
      name,
      uid,
      groups: [...groups],
      ...(verifiedEmail === undefined ? {} : { verifiedEmail }),
      checkedTime,
      ...(upstream === undefined ? {} : { upstream }),
    },
  };
}

function passwordFields({ uid, changedAt }: PasswordID): Partial<SessionSpec> {
  return { passwordTime: new Date(changedAt).toISOString(), credentialUID: uid };
}

/** The fields that a session of an earlier version lacks, without those that have the values of such a session. */
function laterFields({
  createdAt,
  authentication,
  browser,
  claims,
}: Authenticated): Partial<Omit<Authentication, 'proof'> & Pick<Authenticated, 'browser' | 'claims'>> {
  if (!authentication) return {};
  const { authTime, amr, acr, password } = authentication;
  return {
    ...(authTime === createdAt ? {} : { authTime }),
    ...(amr.join() === PASSWORD_ONLY.join() ? {} : { amr }),
    ...(browser === undefined ? {} : { browser }),
    ...(password === undefined ? {} : { password: passwordID(password) }),
    ...(acr === undefined ? {} : { acr }),
    ...(claims ? { claims } : {}),
  };
}

export function authenticationIn(
  spec: Readonly<Record<string, unknown>>,
  createdAt: number,
): Authentication | undefined {
  const password = passwordIn(spec);
  const proof = proofIn(spec, password);
  if (!proof) return undefined;
  const { acr } = spec;
  return {
    proof,
    ...(proof.kind !== 'password' && password ? { password } : {}),
    authTime: time(spec['authTime']) ?? createdAt,
    amr: texts(spec['amr']) ?? PASSWORD_ONLY,
    ...(isAcrValue(acr) ? { acr } : {}),
  };
}

export function requestedClaimsIn(spec: Readonly<Record<string, unknown>>): RequestedClaims | undefined {
  if (spec['claims'] === undefined) return undefined;
  const { userinfo, idToken } = recordIn(spec, 'claims');
  return { userinfo: array(userinfo).filter(isUserClaim), idToken: array(idToken).filter(isUserClaim) };
}

function proofIn(
  spec: Readonly<Record<string, unknown>>,
  password: PasswordID | undefined,
): Proof | undefined {
  if (spec['identity'] !== undefined) return identityProofIn(spec);
  const id = optionalText(spec['passkey']);
  return id === undefined ? password && passwordProof(password) : { kind: 'passkey', id };
}

function passwordIn(spec: Readonly<Record<string, unknown>>): PasswordID | undefined {
  const changedAt = time(spec['passwordTime']);
  const uid = optionalText(spec['credentialUID']);
  return changedAt === undefined || uid === undefined ? undefined : { uid, changedAt };
}

function identityProofIn(spec: Readonly<Record<string, unknown>>): Proof | undefined {
  const identity = recordIn(spec, 'identity');
  const checkedAt = time(identity['checkedTime']);
  const groups = texts(identity['groups'] ?? []);
  if (checkedAt === undefined || groups === undefined) return undefined;
  const upstream = optionalText(identity['upstream']);
  const verifiedEmail = optionalText(identity['verifiedEmail']);
  const { name, uid } = identity;
  return {
    kind: 'identity',
    name: text(name),
    uid: text(uid),
    groups,
    ...(verifiedEmail === undefined ? {} : { verifiedEmail }),
    checkedAt,
    ...(upstream === undefined ? {} : { upstream }),
  };
}

export function texts(value: unknown): readonly string[] | undefined {
  return Array.isArray(value) && value.every((item) => typeof item === 'string') ? value : undefined;
}

/** Ms since the epoch. */
export function time(value: unknown): number | undefined {
  const ms = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(ms) ? undefined : ms;
}
