// Authenticator of the gateway. It accepts only credentials that the gateway can forward, or whose user the gateway
// may impersonate, so that this server and kube-apiserver see the same identity.
import type { IncomingMessage } from 'node:http';
import { newForbidden } from '../../apis/meta/v1/errors.ts';
import type {
  AuthenticationRequest,
  Authenticator,
  Identification,
} from '../authentication/authenticator.ts';
import { AuthenticatorChain } from '../authentication/authenticator-chain.ts';
import type { UserInfo } from '../authentication/user.ts';

export interface GatewayCredentials {
  readonly certificates: Authenticator;
  /** All bearer tokens. */
  readonly tokens: Authenticator;
  /** Tokens of this server only; undefined without the authorization server. */
  readonly ownTokens: Authenticator | undefined;
}

export interface GatewayAuthenticator {
  readonly authenticator: Authenticator;
  /** Returns the credential of an authenticated request whose caller the gateway impersonates. */
  readonly impersonatedBy: (request: IncomingMessage) => ImpersonatedCredential | undefined;
}

export type ImpersonatedCredential = 'certificate' | 'token';

/** The order is that of kube-apiserver: the certificate, then the token. `impersonation`, `anonymous`: as the options. */
export function gatewayAuthenticator(
  { certificates, tokens, ownTokens }: GatewayCredentials,
  impersonation: 'none' | 'certificates' | 'all',
  anonymous: boolean,
): GatewayAuthenticator {
  const impersonated = new WeakMap<IncomingMessage, ImpersonatedCredential>();
  const authenticators =
    impersonation === 'none'
      ? [tokens, rejected(certificates)]
      : [
          recorded(certificates, 'certificate', impersonated),
          ...(impersonation === 'all' && ownTokens ? [recorded(ownTokens, 'token', impersonated)] : []),
          tokens,
        ];
  return {
    authenticator: new AuthenticatorChain(authenticators, { anonymous }),
    impersonatedBy: (request) => impersonated.get(request),
  };
}

/** Wraps an authenticator to record the requests that it authenticates. */
function recorded(
  inner: Authenticator,
  credential: ImpersonatedCredential,
  requests: WeakMap<IncomingMessage, ImpersonatedCredential>,
): Authenticator {
  const record = (user: UserInfo | undefined, { request }: AuthenticationRequest): UserInfo | undefined => {
    if (user) requests.set(request, credential);
    return user;
  };
  return {
    name: inner.name,
    authenticate: (request): Identification => {
      const user = inner.authenticate(request);
      return user instanceof Promise ? user.then((found) => record(found, request)) : record(user, request);
    },
  };
}

/** Wraps an authenticator to reject its callers, who would be anonymous at kube-apiserver. The error names the cure. */
function rejected(inner: Authenticator): Authenticator {
  const reject = (user: UserInfo | undefined): undefined => {
    if (!user) return undefined;
    throw newForbidden(
      undefined,
      '',
      'the gateway cannot forward a client certificate: use a token, or set gateway.impersonation to "certificates"',
    );
  };
  return {
    name: inner.name,
    authenticate: (request): Identification => {
      const user = inner.authenticate(request);
      return user instanceof Promise ? user.then(reject) : reject(user);
    },
  };
}
