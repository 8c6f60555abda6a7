// Converts sessions to Session objects, and Session objects to sessions. A MAC protects the fields and the name of
// the object.
import { VERSION } from '../../../apis/iam/v1beta1/group-version.ts';
import { SESSION, type SessionSpec, SessionSpecSchema } from '../../../apis/iam/v1beta1/session-resource.ts';
import { compileSchema } from '../../../apis/reading/schema-validator.ts';
import { recordIn, text } from '../../../apis/reading/unknown-value.ts';
import type { KeyRing, RandomBytes } from '../keys/key-ring.ts';
import type { PasswordID } from '../users/account.ts';
import { isUserClaim } from '../users/user-claims.ts';
import { type Authentication, isAcrValue, type Proof } from './proof.ts';
import { type ObjectVersion, type Session, type StoredSession, sameHash } from './session.ts';

/** A Session object as read from the cluster; `session` is undefined when the object is invalid. */
export interface FoundSession extends ObjectVersion {
  readonly name: string;
  /** Ms since the epoch, set by kube-apiserver; NaN when it is missing. */
  readonly creationTime: number;
  readonly session: StoredSession | undefined;
  readonly mac: string;
}

/** A Session object as written to the cluster. */
interface WrittenSession {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string } & Partial<ObjectVersion>;
  readonly spec: SessionSpec;
}

/** Maximum clock difference between replicas and kube-apiserver. */
export const MAX_CLOCK_DIFFERENCE_MS = 5 * 60_000;
const MAC_PURPOSE = 'session';

/** Throws SyntaxError for an object without a name. */
export function readSession(object: unknown): FoundSession {
  const metadata = recordIn(object, 'metadata');
  const { name, uid, resourceVersion, creationTimestamp, deletionTimestamp } = metadata;
  if (typeof name !== 'string') throw new SyntaxError('the session has no metadata.name');
  const version = { uid: text(uid), resourceVersion: text(resourceVersion) };
  const creationTime = Date.parse(text(creationTimestamp));
  const spec = recordIn(object, 'spec');
  const session = sessionIn(name, spec);
  // kube-apiserver sets creationTimestamp, so a deleted session cannot be recreated from a saved copy with its MAC.
  const original = session && Math.abs(creationTime - session.createdAt) <= MAX_CLOCK_DIFFERENCE_MS;
  return {
    ...version,
    name,
    creationTime,
    // A finalizer keeps the deleted object, but the session is terminated.
    session: original && deletionTimestamp === undefined ? { ...session, ...version } : undefined,
    mac: text(spec['mac']),
  };
}

/** Whether the MAC is valid for this session, including its name. */
export function isGenuine(session: Session, mac: string, keys: KeyRing): boolean {
  return keys.checkMac(MAC_PURPOSE, macMessage(session), mac);
}

/** Equality of all fields that the MAC covers. */
export function isSame(one: Session, other: Session): boolean {
  return macMessage(one) === macMessage(other);
}

/**
 * The object to write; `version` is the precondition of a replace. Throws ServiceUnavailable (StatusError) without a MAC
 * key.
 */
export function sessionObject(
  group: string,
  session: Session,
  keys: KeyRing,
  version?: ObjectVersion,
): WrittenSession {
  return {
    apiVersion: `${group}/${VERSION}`,
    kind: SESSION.kind,
    metadata: {
      name: session.id,
      ...(version ? { uid: version.uid, resourceVersion: version.resourceVersion } : {}),
    },
    spec: { ...specOf(session), mac: keys.mac(MAC_PURPOSE, macMessage(session)) },
  };
}

function macMessage(session: Session): string {
  return JSON.stringify([session.id, specOf(session)]);
}

/** Every field except the MAC, always in this order. */
function specOf({ authentication, browser, claims, ...session }: Session): Omit<SessionSpec, 'mac'> {
  return {
    user: session.user,
    userUID: session.userUID,
    clientID: session.clientID,
    scopes: [...session.scopes],
    source: session.source,
    userAgent: session.userAgent,
    createdTime: timestamp(session.createdAt),
    lastUsedTime: timestamp(session.lastUsedAt),
    notAfter: timestamp(session.notAfter),
    idleNotAfter: timestamp(session.idleNotAfter),
    generation: session.generation,
    refreshHash: session.refreshHash,
    familyHash: session.familyHash,
    ...(authentication ? authenticationFields(authentication) : {}),
    ...(browser === undefined ? {} : { browser }),
    ...(claims ? { claims: { userinfo: [...claims.userinfo], idToken: [...claims.idToken] } } : {}),
  };
}

function authenticationFields({ proof, password, authTime, amr, acr }: Authentication): Partial<SessionSpec> {
  return {
    ...proofFields(proof),
    ...(password ? passwordFields(password) : {}),
    authTime: timestamp(authTime),
    amr: [...amr],
    ...(acr === undefined ? {} : { acr }),
  };
}

function proofFields(proof: Proof): Partial<SessionSpec> {
  if (proof.kind === 'password') return passwordFields(proof);
  if (proof.kind === 'passkey') return { passkey: proof.id };
  const { name, uid, groups, verifiedEmail, checkedAt, upstream } = proof;
  return {
    identity: {
      name,
      uid,
      groups: [...groups],
      ...(verifiedEmail === undefined ? {} : { verifiedEmail }),
      checkedTime: timestamp(checkedAt),
      ...(upstream === undefined ? {} : { upstream }),
    },
  };
}

function passwordFields({ uid, changedAt }: PasswordID): Partial<SessionSpec> {
  return { passwordTime: timestamp(changedAt), credentialUID: uid };
}

/** Compiled for the first session. */
let isSpec: ((spec: unknown) => spec is SessionSpec) | undefined;

function sessionIn(id: string, spec: unknown): Session | undefined {
  isSpec ??= compileSchema(SessionSpecSchema);
  if (!isSpec(spec) || !hasValidTimes(spec)) return undefined;
  const { user, userUID, clientID, scopes, source, userAgent, generation, refreshHash, familyHash } = spec;
  const { browser, claims } = spec;
  const authentication = authenticationIn(spec);
  return {
    id,
    user,
    userUID,
    clientID,
    scopes,
    source,
    userAgent,
    generation,
    refreshHash,
    familyHash,
    createdAt: Date.parse(spec.createdTime),
    lastUsedAt: Date.parse(spec.lastUsedTime),
    notAfter: Date.parse(spec.notAfter),
    idleNotAfter: Date.parse(spec.idleNotAfter),
    ...(authentication ? { authentication } : {}),
    ...(browser === undefined ? {} : { browser }),
    ...(claims
      ? {
          claims: {
            userinfo: claims.userinfo.filter(isUserClaim),
            idToken: claims.idToken.filter(isUserClaim),
          },
        }
      : {}),
  };
}

/** The schema accepts any text as a time. */
function hasValidTimes(spec: SessionSpec): boolean {
  const { createdTime, lastUsedTime, notAfter, idleNotAfter, passwordTime, authTime, identity } = spec;
  return [createdTime, lastUsedTime, notAfter, idleNotAfter, passwordTime, authTime, identity?.checkedTime]
    .filter((time) => time !== undefined)
    .every((time) => !Number.isNaN(Date.parse(time)));
}

function authenticationIn(spec: SessionSpec): Authentication | undefined {
  const { passwordTime, credentialUID: uid, authTime, amr, acr } = spec;
  const password =
    passwordTime === undefined || uid === undefined
      ? undefined
      : { uid, changedAt: Date.parse(passwordTime) };
  const proof = proofIn(spec, password);
  if (!proof || authTime === undefined || !amr) return undefined;
  return {
    proof,
    ...(password && proof.kind !== 'password' ? { password } : {}),
    authTime: Date.parse(authTime),
    amr,
    ...(isAcrValue(acr) ? { acr } : {}),
  };
}

function proofIn({ identity, passkey }: SessionSpec, password: PasswordID | undefined): Proof | undefined {
  if (identity) {
    const { checkedTime, ...proof } = identity;
    return { kind: 'identity', ...proof, checkedAt: Date.parse(checkedTime) };
  }
  if (passkey !== undefined) return { kind: 'passkey', id: passkey };
  return password && { kind: 'password', ...password };
}

function timestamp(at: number): string {
  return new Date(at).toISOString();
}

const ID_MAC_PURPOSE = 'session-id';
/** Base32 characters: 60 random bits, then 40 bits of the MAC. */
const ID_RANDOM_LENGTH = 's-'.length + 12;
const ID_MAC_LENGTH = 8;
const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567';
const SESSION_ID = /^s-[a-z2-7]{20}$/;

export function isSessionID(text: string): boolean {
  return SESSION_ID.test(text);
}

/** An id of 100 random bits without a MAC. */
export function newSessionID(random: RandomBytes): string {
  return sessionIDOf(random(20));
}

/** The session id that encodes five bits of each of 20 bytes. */
export function sessionIDOf(bytes: Uint8Array): string {
  return `s-${base32(bytes)}`;
}

/**
 * Session ids with an embedded MAC, so that invented ids are rejected without a read of the cluster. This MAC
 * does not authenticate the session; `spec.mac` does.
 */
export class SessionIDs {
  readonly #keys: Pick<KeyRing, 'macs'>;

  constructor(keys: Pick<KeyRing, 'macs'>) {
    this.#keys = keys;
  }

  /** Throws ServiceUnavailable (StatusError) while there is no key. */
  next(random: RandomBytes): string {
    const start = newSessionID(random).slice(0, ID_RANDOM_LENGTH);
    const [newest] = this.#keys.macs(ID_MAC_PURPOSE, start);
    return `${start}${shortMac(newest)}`;
  }

  /** Whether the MAC is valid under any current MAC key. */
  isGenuine(id: string): boolean {
    if (!isSessionID(id)) return false;
    const start = id.slice(0, ID_RANDOM_LENGTH);
    const presented = id.slice(ID_RANDOM_LENGTH);
    return this.#keys.macs(ID_MAC_PURPOSE, start).some((mac) => sameHash(shortMac(mac), presented));
  }
}

function shortMac(mac: Buffer): string {
  return base32(mac.subarray(0, ID_MAC_LENGTH));
}

function base32(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => BASE32[byte & 31]).join('');
}
