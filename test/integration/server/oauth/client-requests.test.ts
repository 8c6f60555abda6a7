// Tests of requests that client programs and libraries send, as their sources build them.
import { expect } from 'chai';
import type { SiteRequest } from '../../../support/oauth/site-request.ts';
import {
  AUTHORIZE,
  BYE,
  basic,
  FORM,
  JAVA,
  LOGIN,
  PASSWORD,
  TOKENS,
  WEB,
  WEB_BASIC,
  WEB_FORM,
} from './client-forms.ts';
import type { OAuthCluster, OAuthReplica } from './oauth-cluster.ts';
import { sharedCluster } from './shared-cluster.ts';

interface Login {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly id_token: string;
}

/** Other requests: program, path, the request, and the status. `login` is new for each. */
const OTHERS: readonly (readonly [
  program: string,
  status: number,
  path: (login: Login) => string,
  request?: (login: Login) => SiteRequest,
])[] = [
  ...['GET', 'POST', 'HEAD'].map(
    (method) =>
      [
        `go-oidc and Grafana with ${method}`,
        200,
        () => '/oauth/userinfo',
        ({ access_token }: Login) => ({ method, headers: { authorization: `Bearer ${access_token}` } }),
      ] as const,
  ),
  [
    'Spring Security with the authentication method form',
    200,
    () => '/oauth/userinfo',
    ({ access_token }) => ({ form: { access_token }, headers: { 'content-type': `${FORM};charset=UTF-8` } }),
  ],
  [
    'oauth2-proxy with a validate URL',
    401,
    ({ access_token }) => `/oauth/userinfo?access_token=${access_token}`,
  ],
  [
    'Spring Security as a resource server',
    200,
    () => '/oauth/introspect',
    ({ access_token: token }) => ({ form: { token }, headers: { ...WEB_BASIC, accept: 'application/json' } }),
  ],
  [
    'authlib',
    200,
    () => '/oauth/introspect',
    ({ refresh_token }) => ({
      form: `token=${refresh_token}&token_type_hint=refresh_token`,
      headers: basic('web:w+s'),
    }),
  ],
  [
    'authlib',
    200,
    () => '/oauth/revoke',
    ({ refresh_token }) => ({
      form: `token=${refresh_token}&${WEB_FORM}`,
      headers: { authorization: 'Bearer' },
    }),
  ],
  [
    'oauthlib',
    200,
    () => '/oauth/revoke',
    ({ access_token }) => ({
      form: `token=${access_token}&token_type_hint=access_token`,
      headers: WEB_BASIC,
    }),
  ],
  [
    'oidc-client-ts, after the sign-out',
    200,
    () => '/oauth/revoke',
    () => ({ form: 'client_id=spa&token=prt_unknown&token_type_hint=refresh_token' }),
  ],
  [
    'a console that revokes with its token',
    200,
    () => '/oauth/revoke',
    ({ access_token: token }) => ({
      form: `token=${token}&${WEB_FORM}`,
      headers: { authorization: `Bearer ${token}` },
    }),
  ],
  ...Object.entries({
    'Spring Security': (hint: string) => `id_token_hint=${hint}&post_logout_redirect_uri=${BYE}`,
    'oidc-client-ts': (hint: string) =>
      `id_token_hint=${hint}&post_logout_redirect_uri=${encodeURIComponent(BYE)}&state=x&client_id=web`,
    'Keycloak as a broker': (hint: string) =>
      `state=a.b&id_token_hint=${hint}&post_logout_redirect_uri=${BYE}&ui_locales=de&initiating_idp=x`,
    'angular-oauth2-oidc': (hint: string) =>
      `client_id=web&returnTo=${BYE}&redirect_uri=${BYE}&id_token_hint=${hint}&post_logout_redirect_uri=${BYE}`,
    'oauth2-proxy without a session': () =>
      `id_token_hint=&client_id=web&post_logout_redirect_uri=${BYE}&rd=%`,
  }).map(
    ([program, query]) =>
      [
        program,
        303,
        ({ id_token }: Login) => `/oauth/logout?${query(id_token)}`,
        () => ({ headers: JAVA }),
      ] as const,
  ),
  ['Argo CD', 200, ({ id_token }) => `/oauth/logout?id_token_hint=${id_token}`],
  [
    'a console of KubeSphere',
    200,
    () => '/oauth/logout',
    ({ access_token }) => ({ headers: { authorization: `Bearer ${access_token}` } }),
  ],
  [
    'a console with an empty token',
    400,
    () => '/oauth/logout',
    () => ({ headers: { authorization: 'Bearer ' } }),
  ],
  ['a form', 200, () => '/oauth/logout', ({ id_token }) => ({ form: { id_token_hint: id_token } })],
  ...['GET', 'HEAD'].flatMap((method) =>
    [
      '/oauth/.well-known/openid-configuration',
      '/oauth/.well-known/openid-configuration?appid=%',
      '/.well-known/oauth-authorization-server/oauth',
      '/oauth/keys',
    ].map(
      (path) =>
        [
          `a discovery with ${method} and an outdated token`,
          200,
          () => path,
          () => ({
            method,
            headers: { authorization: 'Bearer a.b.c', accept: 'application/jwk-set+json, application/json' },
          }),
        ] as const,
    ),
  ),
  [
    'golang.org/x/oauth2 and oauth2dev',
    200,
    () => '/oauth/device_authorization',
    () => ({ form: `${WEB_FORM}&scope=openid+offline_access` }),
  ],
  [
    'kubelogin',
    200,
    () => '/oauth/device_authorization',
    () => ({ form: 'client_id=spa&scope=openid', headers: basic('spa:') }),
  ],
  ...Object.entries({
    'golang.org/x/oauth2': [WEB_BASIC, ''],
    'authlib, with its scope': [basic('web:w+s'), '&scope=openid+email+offline_access'],
    'requests-oauthlib, with auto_refresh_kwargs': [{}, `&${WEB_FORM}`],
    'a console of KubeSphere': ['Bearer', `&${WEB_FORM}`],
  } as const).map(
    ([program, [headers, more]]) =>
      [
        `${program}, a refresh`,
        200,
        () => '/oauth/token',
        ({ refresh_token }: Login) => ({
          form: `grant_type=refresh_token&refresh_token=${refresh_token}${more}`,
          headers: headers === 'Bearer' ? { authorization: `Bearer ${refresh_token}` } : headers,
        }),
      ] as const,
  ),
];

describe('requests of client programs', () => {
  let cluster: OAuthCluster;
  let replica: OAuthReplica;

  before(async () => {
    cluster = await sharedCluster();
    const secretOf = async (name: string, secret: string): Promise<object> => ({
      secretFiles: [await cluster.write(name, secret)],
    });
    const device = 'urn:ietf:params:oauth:grant-type:device_code';
    const grants = ['password', 'refresh_token', 'authorization_code', device];
    const native = ['http://localhost', 'http://localhost/auth/callback', 'com.example.app:/oauth'];
    const web = { id: 'web', grants, redirectURIs: [WEB], postLogoutRedirectURIs: [BYE], pkce: 'optional' };
    replica = await cluster.replica({
      clients: [
        { ...web, ...(await secretOf('web', 'w+s')) },
        { id: 'https://app.example/a', grants: ['password'], ...(await secretOf('odd', 's ü')) },
        { id: 'spa', public: true, grants, redirectURIs: [WEB, ...native] },
      ],
    });
    await cluster.addUser('alice', PASSWORD, { email: 'alice@example.com', groups: ['developers'] });
  });
  after(() => cluster.reset());

  for (const [program, query] of Object.entries(AUTHORIZE)) {
    it(`open the sign-in page: ${program}`, async () => {
      for (const request of [{}, { form: query }]) {
        const path = 'form' in request ? '/oauth/authorize' : `/oauth/authorize?${query}`;
        const first = await replica.ask(path, request);
        const { status, headers, text } =
          'form' in request ? await replica.ask(first.headers.location ?? '') : first;
        expect([status, headers.location, text.slice(0, 2000)].join(' '), query).to.match(/^200 /);
      }
    });
  }

  for (const [program, [form, headers = {}]] of Object.entries(TOKENS)) {
    it(`get tokens: ${program}`, async () => {
      const { status, text } = await replica.ask('/oauth/token', { form, headers });
      expect([status, text].join(' ')).to.match(/^200 \{"access_token":"/);
    });
  }

  for (const [program, status, path, request = () => ({})] of OTHERS) {
    it(`get ${status}: ${program}, ${path({ access_token: '', refresh_token: '', id_token: '' })}`, async () => {
      const form = `${LOGIN}&${WEB_FORM}&scope=openid+email`;
      const login = JSON.parse((await replica.ask('/oauth/token', { form })).text) as Login;
      const response = await replica.ask(path(login), request(login));
      expect([response.status, response.text].join(' ')).to.match(new RegExp(`^${status} `));
      if (path(login).endsWith('introspect')) expect(response.text).to.match(/^\{"active":true,/);
    });
  }
});
