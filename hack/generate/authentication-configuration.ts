// Generates the AuthenticationConfiguration with which kube-apiserver accepts the access tokens of ks-apiserver. The
// claim mappings equal those in apis/oauth/claim-mapping.ts.
import { stringify } from 'yaml';
import { CLAIM_MAPPING, ID_TOKEN_JTI, OWN_JTI } from '../../apis/oauth/claim-mapping.ts';

interface TrustedIssuer {
  /** Equals the `iss` of the tokens. */
  readonly url: string;
  readonly audience: string;
  /** Clients whose ID tokens are accepted too, for programs that send them. None may have the name of the audience. */
  readonly idTokensOf?: readonly string[];
  /** CA of the issuer, PEM; the system roots by default. */
  readonly certificateAuthority?: string;
}

/** The file for `--authentication-config`; without an issuer it accepts no tokens. */
export function authenticationConfiguration(issuer: TrustedIssuer | undefined): string {
  const configuration = {
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'AuthenticationConfiguration',
    jwt: issuer ? [authenticator(issuer)] : [],
  };
  return stringify(configuration, { lineWidth: 0 });
}

function authenticator(issuer: TrustedIssuer): object {
  const { url, certificateAuthority } = issuer;
  const { username, groups, uid } = CLAIM_MAPPING;
  return {
    issuer: {
      url,
      ...(certificateAuthority === undefined ? {} : { certificateAuthority }),
      ...audiencesOf(issuer),
    },
    claimValidationRules: [tokenRule(issuer)],
    claimMappings: { username, groups, uid },
    userValidationRules: [
      {
        expression: "!user.username.startsWith('system:') && !user.username.contains(':')",
        message: 'user names must have no colon',
      },
      {
        expression: "user.groups.all(group, !group.startsWith('system:') && !group.contains(':'))",
        message: 'group names must have no colon',
      },
    ],
  };
}

function audiencesOf({ audience, idTokensOf = [] }: TrustedIssuer): object {
  return {
    audiences: [audience, ...idTokensOf],
    ...(idTokensOf.length > 0 ? { audienceMatchPolicy: 'MatchAny' } : {}),
  };
}

/** Rejects ID tokens of a client that has the name of the audience. */
function tokenRule({ idTokensOf = [] }: TrustedIssuer): object {
  const access = `claims.jti.startsWith('${OWN_JTI}')`;
  if (idTokensOf.length === 0) {
    return { expression: `has(claims.jti) && ${access}`, message: 'not an access token' };
  }
  const ofClient = `claims.jti.startsWith('${ID_TOKEN_JTI}') && claims.aud in ${JSON.stringify(idTokensOf)}`;
  return {
    expression: `has(claims.jti) && (${access} || (${ofClient}))`,
    message: 'neither an access token nor an ID token of an accepted client',
  };
}

/** The complete example file of the documentation. */
export function exampleConfiguration(platform: string): string {
  return authenticationConfiguration({
    url: 'https://api.example.com/oauth',
    audience: platform,
    certificateAuthority: '-----BEGIN CERTIFICATE-----\n…\n-----END CERTIFICATE-----\n',
  });
}

/** The part of the example that accepts ID tokens of a client `kubectl` too. */
export function idTokenExample(platform: string): string {
  const issuer = { url: '', audience: platform, idTokensOf: ['kubectl'] };
  const changed = { issuer: audiencesOf(issuer), claimValidationRules: [tokenRule(issuer)] };
  return stringify({ jwt: [changed] }, { lineWidth: 0 });
}
