// Authenticator of the gateway. It accepts only credentials that the gateway can forward, or whose user the gateway
// may impersonate, so that this server and kube-apiserver see the same identity.
import { newForbidden, newUnauthorized } from '../../apis/meta/v1/errors.ts';
import { isOwnToken } from '../authentication/access-token-authenticator.ts';
import {
  type Authenticator,
  CallerRejected,
  type Credential,
  type Identification,
  type ImmediateAuthenticator,
} from '../authentication/authenticator.ts';
import { AuthenticatorChain } from '../authentication/authenticator-chain.ts';
import { bearerToken } from '../authentication/bearer-token.ts';

interface GatewayCredentials {
  readonly certificates: ImmediateAuthenticator;
  readonly tokens: Authenticator;
}

/** As the option `gateway.impersonation`. */
export type ImpersonationMode = 'none' | 'certificates' | 'all';

/** Returns true for a credential whose user the gateway impersonates. */
export function isImpersonated(credential: Credential | undefined, mode: ImpersonationMode): boolean {
  if (credential?.kind !== 'token') return credential !== undefined;
  return mode === 'all' && isOwnToken(credential);
}

/** `anonymous`: as the option. */
export function gatewayAuthenticator(
  { certificates, tokens }: GatewayCredentials,
  mode: ImpersonationMode,
  anonymous: boolean,
): Authenticator {
  // With impersonation, the order is that of kube-apiserver: the certificate, then the token.
  const chain = new AuthenticatorChain(
    mode === 'none' ? [tokens, rejected(certificates)] : [understood(certificates), tokens],
    { anonymous },
  );
  return {
    name: 'gateway',
    authenticate: (context) => {
      // A credential for another proxy. kube-apiserver ignores it, and the caller would be anonymous.
      if (context.request.headers['proxy-authorization'] !== undefined) {
        throw newUnauthorized(new Error('the request has the header Proxy-Authorization'));
      }
      return chain.authenticate(context);
    },
  };
}

/** Wraps the authenticator of certificates to reject a caller whose other credentials are not understood. */
function understood(certificates: ImmediateAuthenticator): Authenticator {
  return {
    name: certificates.name,
    authenticate: (context): Identification => {
      const user = certificates.authenticate(context);
      try {
        if (user) bearerToken(context);
      } catch (error) {
        throw new CallerRejected(error);
      }
      return user;
    },
  };
}

/** Wraps the authenticator of certificates to reject its callers, who would be anonymous at kube-apiserver. The error names the cure. */
function rejected(certificates: ImmediateAuthenticator): Authenticator {
  return {
    name: certificates.name,
    authenticate: (context): Identification => {
      // Beside a token, the error about the token remains.
      if (context.request.headers.authorization !== undefined || !certificates.authenticate(context)) {
        return undefined;
      }
      throw newForbidden(
        undefined,
        '',
        'the gateway cannot forward a client certificate: use a token, or set gateway.impersonation to "certificates"',
      );
    },
  };
}
