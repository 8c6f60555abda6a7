// The WebAuthn ceremonies of passkeys: options for the browser, and verification of its responses. The challenge is the digest
// of the form ticket, so a response is valid for one form in one browser; passkey-sign-in.ts makes it valid once.
import { hash } from 'node:crypto';
import { isIP } from 'node:net';
import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/server';
import type { TObject } from 'typebox';
import {
  MAX_CREDENTIAL_ID,
  MAX_PASSKEY_NAME,
  MAX_PUBLIC_KEY,
  type Passkey,
} from '../../../apis/iam/v1beta1/authenticators-resource.ts';
import { Type } from '../../../apis/reading/json-schema.ts';
import { compileSchema } from '../../../apis/reading/schema-validator.ts';
import { messageOf } from '../../../apis/reading/thrown-value.ts';
import { printable } from '../../observability/printable-text.ts';
import { MULTIPLE_FACTORS } from '../sessions/proof.ts';
import type { Account, UserID } from '../users/account.ts';

/** The site that passkeys belong to. Another host name or port of the issuer is another site. */
export interface RelyingParty {
  /** Host name of the issuer. */
  readonly id: string;
  readonly origin: string;
  readonly name: string;
}

/** The form with which the browser sends the response. */
export interface Ceremony {
  readonly relyingParty: RelyingParty;
  readonly ticket: string;
}

export type UserVerification = 'required' | 'preferred';

/** A passkey that the browser has created. */
export type NewPasskey = Pick<Passkey, 'id' | 'name' | 'publicKey' | 'counter' | 'transports' | 'backedUp'>;

/** The state of a passkey after its use. */
export type VerifiedAssertion = Pick<Passkey, 'counter' | 'backedUp'>;

/** The browser's response is invalid. The message is for the log only. */
export class PasskeyRejected extends Error {
  constructor(reason: string, options?: ErrorOptions) {
    super(reason, options);
    this.name = 'PasskeyRejected';
  }
}

/** Undefined for an issuer at an IP address, which cannot have passkeys (WebAuthn, 5.1.2: the RP ID is a domain). */
export function relyingPartyOf(issuer: string, name: string): RelyingParty | undefined {
  const { hostname, origin } = new URL(issuer);
  return isIP(hostname.replace(/^\[(.*)\]$/, '$1')) === 0 ? { id: hostname, origin, name } : undefined;
}

/**
 * EdDSA, ES256 and RS256 (RFC 9053 and 8812). All browsers and authenticators support one of them. Pinned, so that an update of
 * the library adds none.
 */
const ALGORITHMS = [-8, -7, -257];
const TIMEOUT_MS = 5 * 60_000;

/** Without `passkeys`, the user chooses one of the device: the server does not reveal which names have any. */
export function requestOptions(
  { relyingParty, ticket }: Ceremony,
  userVerification: UserVerification,
  passkeys: readonly Passkey[] = [],
): PublicKeyCredentialRequestOptionsJSON {
  return {
    challenge: challengeOf(ticket),
    rpId: relyingParty.id,
    timeout: TIMEOUT_MS,
    userVerification,
    allowCredentials: passkeys.map(descriptor),
  };
}

export function creationOptions(
  { relyingParty: { id, name }, ticket }: Ceremony,
  account: UserID & Partial<Pick<Account, 'displayName'>>,
  passkeys: readonly Passkey[],
): PublicKeyCredentialCreationOptionsJSON {
  return {
    challenge: challengeOf(ticket),
    rp: { id, name },
    user: {
      id: userHandle(account),
      name: account.name,
      displayName: account.displayName || account.name,
    },
    pubKeyCredParams: ALGORITHMS.map((alg) => ({ alg, type: 'public-key' })),
    timeout: TIMEOUT_MS,
    attestation: 'none',
    authenticatorSelection: {
      residentKey: 'required',
      requireResidentKey: true,
      userVerification: 'required',
    },
    excludeCredentials: passkeys.map(descriptor),
  };
}

/** Loads the library for the first response of a browser, because it has a hundred modules. */
async function webAuthn() {
  const [ceremonies, helpers] = await Promise.all([
    import('@simplewebauthn/server'),
    import('@simplewebauthn/server/helpers'),
  ]);
  return { ...ceremonies, ...helpers };
}

type WebAuthn = Awaited<ReturnType<typeof webAuthn>>;

const Bytes = Type.String({ minLength: 1, maxLength: 32_768, pattern: '^[A-Za-z0-9_-]+$' });
const CREDENTIAL = {
  id: Bytes,
  rawId: Bytes,
  type: Type.Literal('public-key'),
  clientExtensionResults: Type.Object({}),
};
const isAssertion = compiled(
  Type.Object({
    ...CREDENTIAL,
    response: Type.Object({
      clientDataJSON: Bytes,
      authenticatorData: Bytes,
      signature: Bytes,
      userHandle: Type.Optional(Bytes),
    }),
  }),
);
const isRegistration = compiled(
  Type.Object({
    ...CREDENTIAL,
    response: Type.Object({
      clientDataJSON: Bytes,
      attestationObject: Bytes,
      transports: Type.Optional(Type.Array(Type.String())),
    }),
  }),
);

export type Assertion = ReturnType<typeof parseAssertion>;

/** `text`: JSON of the browser, which proves nothing yet. Throws PasskeyRejected. */
export function parseAssertion(text: string) {
  return parsed(text, isAssertion());
}

/** The stored name of a passkey, as a user typed it. */
export function passkeyName(typed: string): string {
  return printable(typed.trim(), MAX_PASSKEY_NAME).toWellFormed();
}

/** UID of the user whom the response names; undefined if it names none. */
export function userUIDOf({ response: { userHandle } }: Assertion): string | undefined {
  return userHandle === undefined ? undefined : Buffer.from(userHandle, 'base64url').toString();
}

/** Verifies a response for one passkey. The caller compares the user, and stores the counter. Throws PasskeyRejected. */
export async function verifyAssertion(
  { relyingParty, ticket }: Ceremony,
  response: Assertion,
  passkey: Passkey,
  userVerification: UserVerification,
): Promise<VerifiedAssertion> {
  return rejecting(async () => {
    const library = await webAuthn();
    rejectFrames(library, response.response.clientDataJSON);
    const { verified, authenticationInfo: info } = await library.verifyAuthenticationResponse({
      response,
      expectedChallenge: challengeOf(ticket),
      expectedOrigin: relyingParty.origin,
      expectedRPID: relyingParty.id,
      requireUserVerification: userVerification === 'required',
      credential: {
        id: passkey.id,
        publicKey: library.isoBase64URL.toBuffer(passkey.publicKey),
        counter: passkey.counter,
      },
    });
    if (!verified) throw new Error('the signature is invalid');
    return { counter: info.newCounter, backedUp: info.credentialBackedUp };
  });
}

/** `text`: JSON of the browser; `name`: as typed. Throws PasskeyRejected. */
export async function verifyRegistration(
  { relyingParty, ticket }: Ceremony,
  { text, name }: { readonly text: string; readonly name: string },
): Promise<NewPasskey> {
  return rejecting(async () => {
    const response = parsed(text, isRegistration());
    const library = await webAuthn();
    rejectFrames(library, response.response.clientDataJSON);
    rejectCertificates(library, response.response.attestationObject);
    const { verified, registrationInfo: info } = await library.verifyRegistrationResponse({
      response,
      expectedChallenge: challengeOf(ticket),
      expectedOrigin: relyingParty.origin,
      expectedRPID: relyingParty.id,
      requireUserVerification: true,
      supportedAlgorithmIDs: ALGORITHMS,
    });
    if (!verified) throw new Error('the attestation is invalid');
    const { id, publicKey: key, counter } = info.credential;
    const publicKey = library.isoBase64URL.fromBuffer(key);
    // kube-apiserver would reject the object.
    if (id === '' || id.length > MAX_CREDENTIAL_ID) throw new Error('the credential ID is empty or too long');
    if (publicKey.length > MAX_PUBLIC_KEY) throw new Error('the public key is too long');
    return {
      id,
      name: passkeyName(name),
      publicKey,
      counter,
      transports: (response.response.transports ?? [])
        .filter((each) => /^[a-z-]{1,32}$/.test(each))
        .slice(0, 8),
      backedUp: info.credentialBackedUp,
    };
  });
}

/** Methods (RFC 8176). The key of a passkey that is synced between devices is not bound to hardware. `user`: the user was present. */
export function passkeyMethods({ backedUp }: Pick<Passkey, 'backedUp'>): readonly string[] {
  return [backedUp ? 'swk' : 'hwk', 'user', MULTIPLE_FACTORS];
}

function challengeOf(ticket: string): string {
  return hash('sha256', `passkey challenge ${ticket}`, 'base64url');
}

/** The UID, because a name may be personal data. */
function userHandle({ uid }: UserID): string {
  return Buffer.from(uid).toString('base64url');
}

function descriptor({ id, transports }: Passkey): { id: string; type: 'public-key'; transports: string[] } {
  return { id, type: 'public-key', transports: [...transports] };
}

/** No page of this server may be in a frame of another site. */
function rejectFrames({ decodeClientDataJSON }: WebAuthn, clientDataJSON: string): void {
  if (decodeClientDataJSON(clientDataJSON).crossOrigin === true)
    throw new Error('the page is in a frame of another site');
}

/**
 * For `attestation: 'none'`, browsers send no certificates (WebAuthn, 5.1.3). Certificates of an attacker would reach parsers that
 * nothing here needs.
 */
function rejectCertificates(
  { decodeAttestationObject, isoBase64URL }: WebAuthn,
  attestationObject: string,
): void {
  const decoded = decodeAttestationObject(isoBase64URL.toBuffer(attestationObject));
  const format = decoded.get('fmt');
  const isSelfSigned = format === 'packed' && decoded.get('attStmt').get('x5c') === undefined;
  if (format !== 'none' && !isSelfSigned) throw new Error(`the attestation ${format} is not accepted`);
}

/** Compiled for the first response. */
function compiled<Schema extends TObject>(schema: Schema) {
  let validate: ReturnType<typeof compileSchema<Schema>> | undefined;
  return () => (validate ??= compileSchema(schema));
}

function parsed<T>(text: string, isValid: (value: unknown) => value is T): T {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new PasskeyRejected('the response is no JSON', { cause });
  }
  if (!isValid(value)) throw new PasskeyRejected('the response has an invalid field');
  return value;
}

/** The library throws errors of many kinds for invalid responses. */
async function rejecting<T>(verify: () => Promise<T>): Promise<T> {
  try {
    return await verify();
  } catch (error) {
    throw new PasskeyRejected(messageOf(error), { cause: error });
  }
}
