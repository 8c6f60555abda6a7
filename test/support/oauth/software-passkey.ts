// A passkey in software (WebAuthn with ES256), which creates valid responses, and invalid ones for tests of attacks.
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { isoCBOR } from '@simplewebauthn/server/helpers';
import { record, recordIn, text } from '../../../apis/reading/unknown-value.ts';

/** What an authenticator or a browser claims. */
export interface Claims {
  readonly origin?: string;
  readonly rpId?: string;
  readonly challenge?: string;
  readonly userHandle?: string | undefined;
  readonly counter?: number;
  readonly userVerified?: boolean;
  readonly crossOrigin?: boolean;
  readonly backedUp?: boolean;
  /** The key that signs. */
  readonly key?: KeyObject;
  /** Modulus of an RSA key, which is registered in place of the own one. */
  readonly modulus?: Buffer;
}

const FLAGS = { userPresent: 1, userVerified: 4, backupEligible: 8, backedUp: 16, attested: 64 };

export class SoftwarePasskey {
  readonly id: Buffer;
  readonly #origin: string;
  readonly #keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  /** Base64url; set by `create`. */
  userHandle = '';
  counter = 0;

  /** `origin`: of the pages of the server. `bytes`: length of the credential ID. */
  constructor(origin: string, bytes = 16) {
    this.#origin = origin;
    this.id = randomBytes(bytes);
  }

  /** The response to the creation options in a page. `format`: of the attestation. */
  create(page: string, claims: Claims = {}, format: 'none' | 'packed' = 'none'): string {
    const options = optionsIn(page);
    this.userHandle = text(recordIn(options, 'user')['id']);
    const publicKey = claims.modulus ? rsaKey(claims.modulus) : this.#publicKey();
    const length = Buffer.alloc(2);
    length.writeUInt16BE(this.id.length);
    const attested = [Buffer.alloc(16), length, this.id, publicKey];
    const authData = this.#authenticatorData(options, claims, FLAGS.attested, attested);
    const statement = format === 'none' ? new Map() : new Map([['x5c', [bytes('AAAA')]]]);
    const attestationObject = isoCBOR.encode(
      new Map<string, unknown>([
        ['fmt', format],
        ['attStmt', statement],
        ['authData', new Uint8Array(authData)],
      ]) as Parameters<typeof isoCBOR.encode>[0],
    );
    const clientDataJSON = this.#clientData('webauthn.create', options, claims);
    return this.#credential({
      clientDataJSON: clientDataJSON.toString('base64url'),
      attestationObject: Buffer.from(attestationObject).toString('base64url'),
      transports: ['internal'],
    });
  }

  /** The response to the request options in a page. */
  get(page: string, claims: Claims = {}): string {
    const options = optionsIn(page);
    const clientDataJSON = this.#clientData('webauthn.get', options, claims);
    const authenticatorData = this.#authenticatorData(options, claims);
    const signed = Buffer.concat([authenticatorData, createHash('sha256').update(clientDataJSON).digest()]);
    const userHandle = 'userHandle' in claims ? claims.userHandle : this.userHandle;
    return this.#credential({
      clientDataJSON: clientDataJSON.toString('base64url'),
      authenticatorData: authenticatorData.toString('base64url'),
      signature: sign('sha256', signed, claims.key ?? this.#keys.privateKey).toString('base64url'),
      ...(userHandle === undefined ? {} : { userHandle }),
    });
  }

  #publicKey(): Uint8Array {
    const { x = '', y = '' } = this.#keys.publicKey.export({ format: 'jwk' });
    return isoCBOR.encode(
      new Map<number, number | Uint8Array<ArrayBuffer>>([
        [1, 2],
        [3, -7],
        [-1, 1],
        [-2, bytes(x)],
        [-3, bytes(y)],
      ]),
    );
  }

  #credential(response: object): string {
    const id = this.id.toString('base64url');
    return JSON.stringify({ id, rawId: id, type: 'public-key', clientExtensionResults: {}, response });
  }

  #clientData(type: string, options: unknown, claims: Claims): Buffer {
    const { challenge = text(record(options)['challenge']), crossOrigin = false } = claims;
    return Buffer.from(
      JSON.stringify({ type, challenge, origin: claims.origin ?? this.#origin, crossOrigin }),
    );
  }

  #authenticatorData(
    options: unknown,
    { rpId, counter = this.counter, userVerified = true, backedUp = false }: Claims,
    more = 0,
    attested: readonly Uint8Array[] = [],
  ): Buffer {
    const given = text(record(options)['rpId'] ?? recordIn(options, 'rp')['id']);
    const flags =
      FLAGS.userPresent +
      (userVerified ? FLAGS.userVerified : 0) +
      (backedUp ? FLAGS.backupEligible + FLAGS.backedUp : 0) +
      more;
    const rest = Buffer.alloc(5);
    rest.writeUInt8(flags);
    rest.writeUInt32BE(counter, 1);
    const site = createHash('sha256')
      .update(rpId ?? given)
      .digest();
    return Buffer.concat([site, rest, ...attested]);
  }
}

/** The options of the browser in a page; throws if there are none. */
export function optionsIn(page: string): unknown {
  const [, json = ''] = / data-options="([^"]+)"/.exec(page) ?? [];
  return JSON.parse(json.replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&amp;', '&'));
}

/** In COSE format, with the usual exponent. */
function rsaKey(modulus: Buffer): Uint8Array {
  return isoCBOR.encode(
    new Map<number, number | Uint8Array<ArrayBuffer>>([
      [1, 3],
      [3, -257],
      [-1, new Uint8Array(modulus)],
      [-2, bytes('AQAB')],
    ]),
  );
}

function bytes(base64url: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(base64url, 'base64url'));
}
