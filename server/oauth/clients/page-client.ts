// The client that the page of the API description is: a program of our own in the browser, which can keep no secret.
// PKCE stands in for one, and a code goes nowhere but back to a page that we serve ourselves. It gets no refresh token
// and has no other grant, so it lets nobody do what another client would not.
import { SCOPES } from '../../../apis/oauth/scopes.ts';
import type { OAuthClient } from './oauth-client.ts';

/** The page, in endpoints/description, names itself so. A configured client of the same id takes its place. */
export const PAGE_CLIENT = 'openapi-page';
const REDIRECT_PATH = '/openapi/page/oauth2-redirect.html';

const OTHER_NAMES: ReadonlyMap<string, string> = new Map([
  ['localhost', '127.0.0.1'],
  ['127.0.0.1', 'localhost'],
]);

type Lifetimes = Pick<OAuthClient, 'accessTokenLifetime' | 'refreshIdleLifetime' | 'sessionLifetime'>;

/** `issuer`: the URL of the token handler as everybody sees it. */
export function pageClient(issuer: string, lifetimes: Lifetimes): OAuthClient {
  const { origin, hostname, port } = new URL(issuer);
  // A server on this machine is called by either name.
  const other = OTHER_NAMES.get(hostname);
  const origins = other === undefined ? [origin] : [origin, `https://${other}:${port || '443'}`];
  return {
    id: PAGE_CLIENT,
    displayName: 'API description',
    isPublic: true,
    requiresPKCE: true,
    rotatesRefreshTokens: true,
    grants: ['authorization_code'],
    redirectURIs: origins.map((each) => new URL(REDIRECT_PATH, each).href),
    scopes: SCOPES,
    ...lifetimes,
  };
}
