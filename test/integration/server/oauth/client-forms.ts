// Authorization requests and token requests of client programs and libraries, as their sources build them. The clients are
// `web`, with the secret `w+s`, and the public client `spa`.
import { CHALLENGE } from '../../../support/oauth/sign-in-state.ts';
import type { SiteRequest } from '../../../support/oauth/site-request.ts';

export const PASSWORD = 'correct horse battery staple';
export const WEB = 'https://app.example.com/callback';
export const BYE = 'https://app.example.com/bye';
const BACK = encodeURIComponent(WEB);
const PKCE = `code_challenge=${CHALLENGE}&code_challenge_method=S256`;
export const FORM = 'application/x-www-form-urlencoded';

export const basic = (pair: string, encoding: BufferEncoding = 'utf8') => ({
  authorization: `Basic ${Buffer.from(pair, encoding).toString('base64')}`,
});
export const WEB_BASIC = basic('web:w%2Bs');
export const WEB_FORM = 'client_id=web&client_secret=w%2Bs';
export const LOGIN = `grant_type=password&username=alice&password=${encodeURIComponent(PASSWORD)}`;
/** What java.net.HttpURLConnection accepts by default. */
export const JAVA = { accept: 'text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2' };

/** Queries of authorization requests that get the sign-in page. */
export const AUTHORIZE: Readonly<Record<string, string>> = {
  'golang.org/x/oauth2': `client_id=web&redirect_uri=${BACK}&response_type=code&scope=openid+email&state=x`,
  kubelogin: `access_type=offline&client_id=spa&${PKCE}&nonce=n&redirect_uri=http%3A%2F%2Flocalhost%3A8000&response_type=code&scope=openid&state=x`,
  'Argo CD, with claims': `claims=%7B%22id_token%22%3A%7B%22groups%22%3A%7B%22essential%22%3Atrue%7D%7D%7D&client_id=web&${PKCE}&redirect_uri=${BACK}&response_type=code&scope=openid+profile+email+groups&state=AbC`,
  'Argo CD, with a domain hint': `client_id=web&domain_hint=example.com&redirect_uri=${BACK}&response_type=code&scope=openid&state=x`,
  'Argo CD CLI': `client_id=spa&${PKCE}&redirect_uri=http%3A%2F%2Flocalhost%3A8085%2Fauth%2Fcallback&response_type=code&scope=openid+offline_access&state=x`,
  Grafana: `access_type=online&client_id=web&redirect_uri=${BACK}&response_type=code&scope=openid+email+offline_access&state=x%3D`,
  'oauth2-proxy': `acr_values=&approval_prompt=force&client_id=web&${PKCE}&nonce=n&redirect_uri=${BACK}&response_type=code&scope=openid+email+profile&state=n%3A%2Fpath%3Fa%3Db`,
  'oauth2-proxy, with resources': `client_id=web&redirect_uri=${BACK}&resource=https%3A%2F%2Fa&resource=https%3A%2F%2Fb&response_type=code&scope=openid&state=x`,
  Headlamp: `client_id=web&redirect_uri=${BACK}&response_type=code&scope=openid+profile+email&state=bWFpbg%3D%3D`,
  'Spring Security': `response_type=code&client_id=web&scope=openid%20profile&state=Zx_-a%3D&redirect_uri=${WEB}&nonce=Y2-_`,
  authlib: `response_type=code&client_id=web&redirect_uri=${BACK}&scope=openid+profile&state=x&nonce=n&${PKCE}&prompt=consent`,
  'requests-oauthlib': `response_type=code&client_id=web&redirect_uri=${BACK}&scope=openid+email&state=x&access_type=offline&include_granted_scopes=true`,
  'oidc-client-ts': `client_id=spa&redirect_uri=${BACK}&response_type=code&scope=openid&state=x&${PKCE}&response_mode=query`,
  'angular-oauth2-oidc': `response_type=code&client_id=spa&state=N0;%2Fhome;x&redirect_uri=${BACK}&scope=openid%20email&nonce=n&${PKCE}`,
  AppAuth: `response_type=code&client_id=spa&redirect_uri=com.example.app%3A%2Foauth&scope=openid&state=x&nonce=n&${PKCE}&prompt=login&ui_locales=de-CH%20fr&display=touch`,
  MSAL: `client_id=spa&scope=openid%20profile%20offline_access&redirect_uri=${BACK}&client-request-id=1&response_mode=query&response_type=code&x-client-SKU=msal&x-client-VER=2&client_info=1&${PKCE}&prompt=select_account&nonce=n&state=x`,
  'Keycloak as a broker': `scope=openid&state=a.b_c.d&response_type=code&client_id=web&redirect_uri=${BACK}&nonce=n&max_age=3600&login_hint=`,
  'Passport, with a raw vertical bar': `response_type=code&redirect_uri=${BACK}&scope=openid%20email&state=a|b&client_id=web&display=page`,
  'a link with a tracker': `client_id=web&redirect_uri=${BACK}&response_type=code&scope=openid&utm_term=100%&q=%fc&fbclid=a=b`,
};

/** Headers and forms of token requests that get tokens. */
export const TOKENS: Readonly<Record<string, readonly [form: string, headers?: SiteRequest['headers']]>> = {
  'golang.org/x/oauth2, in the header': [LOGIN, WEB_BASIC],
  'golang.org/x/oauth2, in the form': [`${LOGIN}&${WEB_FORM}&scope=openid`],
  'golang.org/x/oauth2, public in the header': [LOGIN, basic('spa:')],
  'golang.org/x/oauth2, public in the form': [`client_id=spa&${LOGIN}&scope=openid+offline_access`],
  'golang.org/x/oauth2, an id with reserved characters': [
    LOGIN,
    basic('https%3A%2F%2Fapp.example%2Fa:s+%C3%BC'),
  ],
  'authlib, Latin-1': [LOGIN, basic('https://app.example/a:s ü', 'latin1')],
  'authlib, in the form': [`${LOGIN}&${WEB_FORM}`, { 'content-type': `${FORM};charset=UTF-8` }],
  'authlib, public': [`${LOGIN}&client_id=spa&client_secret=`],
  'requests-oauthlib': [`${LOGIN}&client_id=web`, basic('web:w+s')],
  'requests-oauthlib, public': [`${LOGIN}&client_id=spa`, basic('spa:')],
  'Spring Security 5': [
    LOGIN,
    { ...WEB_BASIC, accept: 'application/json;charset=UTF-8', 'content-type': `${FORM};charset=UTF-8` },
  ],
  'Spring Security, client_secret_post': [`${LOGIN}&${WEB_FORM}`, { 'content-type': FORM }],
  'Spring Security, public': [`${LOGIN}&client_id=spa`, { 'content-type': FORM }],
  'Nimbus, in Jenkins and pac4j': [LOGIN, { ...WEB_BASIC, 'content-type': `${FORM}; charset=UTF-8` }],
  'Apache HttpClient': [`${LOGIN}&${WEB_FORM}`, { 'content-type': `${FORM}; charset=ISO-8859-1` }],
  'java.net.HttpURLConnection': [`${LOGIN}&${WEB_FORM}`, JAVA],
  'axios, with an empty auth': [`${LOGIN}&${WEB_FORM}`, { authorization: 'Basic Og==' }],
  'axios, with an interceptor without a token': [
    `${LOGIN}&${WEB_FORM}`,
    { authorization: 'Bearer undefined' },
  ],
  'axios, with an interceptor and an empty token': [`${LOGIN}&${WEB_FORM}`, { authorization: 'Bearer ' }],
  'a proxy that empties the header': [`${LOGIN}&${WEB_FORM}`, { authorization: '' }],
  'a console with an outdated token': [`${LOGIN}&client_id=spa`, { authorization: 'Bearer a.b.c' }],
  'a browser of an intranet': [`${LOGIN}&client_id=spa`, { authorization: 'Negotiate YII=' }],
  'curl -u': [LOGIN, basic('web:w+s')],
  'Guzzle of league/oauth2-client': [`${WEB_FORM}&redirect_uri=${BACK}&${LOGIN}`],
  'MSAL, with unknown and repeated parameters': [
    `${LOGIN}&client_id=spa&client_info=1&x-client-SKU=a&claims=%&resource=a&resource=b&audience=`,
  ],
  'oidc-client-ts, with empty parameters': [
    `${LOGIN}&client_id=spa&code=&code_verifier=&scope=&redirect_uri=`,
  ],
};
