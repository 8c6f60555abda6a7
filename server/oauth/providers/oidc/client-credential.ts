// The credential of this server at an OpenID provider: a client secret, or a private key that signs assertions (`private_key_jwt`,
// RFC 7523). It is read again for each request, so a replaced Secret has an effect at once.
import { createPrivateKey, hash, type KeyObject, X509Certificate } from 'node:crypto';
import * as openid from 'openid-client';
import type { SecretReference } from '../../clients/oauth-client.ts';
import type { OIDCSettings } from './oidc-settings.ts';

interface ClientCredentialOptions {
  readonly settings: Pick<OIDCSettings, 'clientSecretRef' | 'privateKeyRef'>;
  /** The current value of the Secret; undefined while it is missing. */
  readonly secret: () => string | undefined;
}

/** The Secret of the credential. */
export function credentialRef({
  clientSecretRef,
  privateKeyRef,
}: ClientCredentialOptions['settings']): SecretReference {
  return privateKeyRef.name === '' ? clientSecretRef : privateKeyRef;
}

export class ClientCredential {
  readonly #options: ClientCredentialOptions;

  constructor(options: ClientCredentialOptions) {
    this.#options = options;
  }

  /** Why the provider cannot be used, for administrators. */
  get problem(): string | undefined {
    const { settings, secret } = this.#options;
    const { name, key } = credentialRef(settings);
    const value = secret();
    const what = this.#isKey ? 'private key' : 'client secret';
    if (value === undefined) return `the Secret ${name} has no ${what} with the key ${key}`;
    if (!this.#isKey || signingKeyIn(value)) return undefined;
    return `the value of the key ${key} in the Secret ${name} is not a private key in PEM: RSA with at least 2048 bits, or EC with P-256, P-384 or P-521`;
  }

  /** Adds the credential to a request. */
  readonly authenticate: openid.ClientAuth = (server, client, body, headers) => {
    const value = this.#options.secret() ?? '';
    const add = this.#isKey ? assertion(value, server) : secretMethod(value, server);
    return add(server, client, body, headers);
  };

  get #isKey(): boolean {
    return this.#options.settings.privateKeyRef.name !== '';
  }
}

/** In the header by default (OpenID Connect Discovery, 3). */
function secretMethod(secret: string, server: openid.ServerMetadata): openid.ClientAuth {
  const { token_endpoint_auth_methods_supported: methods = ['client_secret_basic'] } = server;
  return methods.includes('client_secret_basic')
    ? openid.ClientSecretBasic(secret)
    : openid.ClientSecretPost(secret);
}

/** With a certificate beside the key, the assertion has the form of Entra ID, which finds the key by its certificate. */
function assertion(pem: string, server: openid.ServerMetadata): openid.ClientAuth {
  const key = signingKeyIn(pem);
  if (!key) throw new Error('the private key is not valid');
  const certificate = certificateIn(pem);
  return openid.PrivateKeyJwt(key.toCryptoKey(algorithmOf(key, server), false, ['sign']), {
    [openid.modifyAssertion]: (header, payload) => {
      if (!certificate) return;
      header['x5t#S256'] = hash('sha256', certificate.raw, 'base64url');
      payload['aud'] = server.token_endpoint;
    },
  });
}

const CURVES: Readonly<Record<string, string>> = {
  prime256v1: 'P-256',
  secp384r1: 'P-384',
  secp521r1: 'P-521',
};
const MIN_RSA_BITS = 2048;

/** Undefined for a key of an unsupported type. */
function signingKeyIn(pem: string): KeyObject | undefined {
  try {
    const key = createPrivateKey(pem);
    const { modulusLength = 0, namedCurve = '' } = key.asymmetricKeyDetails ?? {};
    const isSupported =
      key.asymmetricKeyType === 'rsa' ? modulusLength >= MIN_RSA_BITS : Object.hasOwn(CURVES, namedCurve);
    return isSupported ? key : undefined;
  } catch {
    return undefined;
  }
}

function certificateIn(pem: string): X509Certificate | undefined {
  const [certificate] = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/.exec(pem) ?? [];
  return certificate === undefined ? undefined : new X509Certificate(certificate);
}

/** From the type of the key: ES256, ES384, ES512 or RS256, and PS256 if the provider supports only that. */
function algorithmOf(key: KeyObject, server: openid.ServerMetadata): Parameters<KeyObject['toCryptoKey']>[0] {
  const { namedCurve = '' } = key.asymmetricKeyDetails ?? {};
  if (key.asymmetricKeyType === 'ec') return { name: 'ECDSA', namedCurve: CURVES[namedCurve] ?? '' };
  const { token_endpoint_auth_signing_alg_values_supported: supported = ['RS256'] } = server;
  const isPSS = !supported.includes('RS256') && supported.includes('PS256');
  return { name: isPSS ? 'RSA-PSS' : 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' };
}
