// The TypeBox schema of the configuration section `oauth.identityProviders[].oidc`.
import { Type } from 'typebox';
import { flagOption, pathOption, section, textOption } from './option-types.ts';

const clientSecretRef = section(
  'Reference to a Secret in the namespace of the server with the client secret.',
  {
    name: textOption(
      'ks-apiserver-identity-providers',
      'Name of the Secret. The manifests allow the server to read this one only.',
    ),
    key: textOption('clientSecret', 'Key in this Secret.'),
  },
);

const privateKeyRef = section(
  'Reference to a Secret in the namespace of the server with a private key in PEM, which replaces the client secret (`private_key_jwt`). The signature algorithm follows from the key: RS256, ES256, ES384 or ES512.',
  {
    name: textOption(
      '',
      'Name of the Secret, such as `ks-apiserver-identity-providers`. Empty: the client secret is used.',
    ),
    key: textOption(
      'privateKey',
      'Key in this Secret. A certificate beside the private key selects the form of Entra ID.',
    ),
  },
);

const claims = section(
  'Claims of the ID token or of userinfo. A name that begins with `/` is a JSON Pointer to a nested claim, such as `/realm_access/roles`.',
  {
    name: textOption('preferred_username', 'Claim from which the name of a new user is derived.'),
    groups: textOption('groups', 'Claim with the groups of the person. Empty: no groups are read.'),
  },
);

/** Section `oidc` of an identity provider. */
export const oidc = section('The OpenID provider, for the type `oidc`.', {
  issuer: textOption(
    '',
    'Issuer, exactly as in the metadata of the provider, such as `https://login.example.com`.',
  ),
  clientID: textOption('', 'Id of this server at the provider.'),
  clientSecretRef,
  privateKeyRef,
  scopes: Type.Array(
    Type.String({ pattern: '^[\\x21\\x23-\\x5b\\x5d-\\x7e]{1,64}$', expects: 'a scope of RFC 6749' }),
    {
      default: ['openid', 'profile', 'email'],
      uniqueItems: true,
      description: 'Requested scopes. `offline_access` is added if the provider lists it in its metadata.',
    },
  ),
  parameters: Type.Record(Type.String({ pattern: '^[a-z_]{1,64}$' }), Type.String({ maxLength: 256 }), {
    default: {},
    description:
      'More parameters of authorization requests, such as `access_type: offline` for Google. Those that the server sets are not allowed.',
  }),
  claims,
  signOut: flagOption(
    false,
    'Signs people out at the provider, too, if it has an `end_session_endpoint`. Register `https://HOST/oauth/signed-out` there as a post-logout redirect URI. Sessions then contain its ID token, encrypted.',
  ),
  caFile: pathOption('CA certificates of the provider, PEM. Empty: the CAs of Node.js.'),
});
