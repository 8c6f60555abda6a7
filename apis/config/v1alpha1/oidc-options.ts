// The JSON Schema of the configuration section `oauth.identityProviders[].oidc`.
import { Type } from '../../reading/json-schema.ts';
import { flagOption, pathOption, section, textOption } from './option-types.ts';

const clientSecretRef = section(
  'Reference to a Secret in the namespace of the server with the client secret.',
  {
    name: textOption('ks-apiserver-identity-providers', 'Name of the Secret.'),
    key: textOption('clientSecret', 'Key in this Secret.'),
  },
);

const privateKeyRef = section(
  'Reference to a Secret in the namespace of the server with a private key in PEM, which replaces the client secret (`private_key_jwt`). The signature algorithm follows from the key: RS256, ES256, ES384 or ES512.',
  {
    name: textOption(
      '',
      'Name of the Secret with a [private key](identity-providers.md#a-private-key-instead-of-a-secret).',
    ),
    key: textOption('privateKey', 'Key in this Secret.'),
  },
);

const claims = section(
  'Claims of the ID token or of userinfo. A name that begins with `/` is a JSON Pointer to a nested claim, such as `/realm_access/roles`.',
  {
    name: textOption('preferred_username', 'Claim with the name of a new user.'),
    groups: textOption('groups', 'Claim with the groups of the person. Empty: no groups.'),
  },
);

/** Section `oidc` of an identity provider. */
export const oidc = section('The OpenID provider, for the type `oidc`.', {
  issuer: textOption('', 'Issuer, exactly as in the metadata of the provider.'),
  clientID: textOption('', 'Id of this server at the provider.'),
  clientSecretRef,
  privateKeyRef,
  scopes: Type.Array(
    Type.String({ pattern: '^[\\x21\\x23-\\x5b\\x5d-\\x7e]{1,64}$', expects: 'a scope of RFC 6749' }),
    {
      default: ['openid', 'profile', 'email'],
      uniqueItems: true,
      description: 'Requested scopes; also `offline_access`, if the metadata list it.',
    },
  ),
  parameters: Type.Record(Type.String({ pattern: '^[a-z_]{1,64}$' }), Type.String({ maxLength: 256 }), {
    default: {},
    description: 'Further parameters of authorization requests, such as `access_type: offline` for Google.',
  }),
  claims,
  signOut: flagOption(
    false,
    '[Signs people out at the provider](identity-providers.md#sign-out-at-the-provider) too.',
  ),
  caFile: pathOption('CA bundle of the provider.'),
});
