// Attacks of a backend behind `proxy` on the clients of the gateway, and text of tenants in the responses of this server.
import { expect } from 'chai';
import { sharedCredentials } from '../credentials/shared-credentials.ts';
import { type RawResponse, rawRequest } from '../gateway/raw-request.ts';
import { WebBackend } from '../gateway/web-backend.ts';
import type { Platform } from '../platform.ts';

/** Text of a tenant that is a page, if a browser takes it for one. */
const MARKUP = '<script>alert(1)</script>';
const ENCODED = encodeURIComponent(MARKUP);
/** Types that no browser renders as a page or executes, with `nosniff`. */
const INERT =
  /^(?:application\/(?:json|x-ndjson|openapi\+json|jwk-set\+json)|text\/(?:plain|csv|event-stream))(?:;|$)/;
const ACTING = [
  ...['access-control-allow-origin', 'alt-svc', 'clear-site-data', 'link', 'nel', 'refresh', 'report-to'],
  ...['reporting-endpoints', 'service-worker-allowed', 'set-cookie', 'sourcemap', 'speculation-rules'],
  ...['strict-transport-security', 'www-authenticate', 'x-unknown'],
];

describe('a hostile backend', function () {
  this.timeout(300_000);
  let platform: Platform;
  let backend: WebBackend;
  let token: string;

  before(async () => {
    ({ platform } = await sharedCredentials());
    backend = await WebBackend.start(platform, 'hostile');
    await platform.bind('cluster-admin', '--serviceaccount=default:default');
    await platform.permitted('* * --as=system:serviceaccount:default:default');
    token = (await platform.succeeding('create token default')).trim();
  });
  after(() => backend?.stop());

  function send(line: string, headers: readonly string[] = []): Promise<RawResponse> {
    const { server, controlPlane } = platform;
    const target = { port: Number(new URL(server.url).port), ca: controlPlane.ca };
    return rawRequest(target, [`${line} HTTP/1.1`, `Authorization: Bearer ${token}`, ...headers]);
  }

  const valuesOf = ({ headers }: RawResponse, name: string): string[] =>
    headers.filter(([own]) => own === name).map(([, value]) => value);

  for (const status of [200, 206, 301, 302, 307, 401, 403, 404, 500, 503]) {
    it(`sends no header that acts on the origin: ${status}`, async () => {
      backend.respond = (_request, response) => {
        const headers = ACTING.flatMap((name) => [name, '"forged"']);
        const types = [
          'Content-Type',
          'text/plain',
          'Content-Type',
          'text/html',
          'Location',
          '/oauth/authorize',
        ];
        response
          .writeHead(status, [...headers, ...types, 'Audit-Id', 'forged', 'Cache-Status', 'forged'])
          .end(MARKUP);
      };
      const spellings = [
        `${backend.path}/a`,
        `${backend.path}//a/../%2e%2e/`,
        backend.path.replace('/proxy', '/%70roxy'),
      ];
      const counted = backend.requests.length;
      for (const path of spellings) {
        const response = await send(`GET ${path}`);
        for (const name of ACTING) expect(valuesOf(response, name), `${path}: ${name}`).to.deep.equal([]);
        expect(valuesOf(response, 'content-security-policy').join(), path).to.match(/^sandbox;/);
        expect(valuesOf(response, 'x-content-type-options'), path).to.deep.equal(['nosniff']);
        expect(valuesOf(response, 'audit-id'), path).to.have.length(1).and.not.include('forged');
        expect(valuesOf(response, 'cache-status'), path).to.not.include('forged');
        // kube-apiserver turns a path into one of the same backend.
        for (const location of valuesOf(response, 'location')) {
          expect(location).to.match(new RegExp(`^${backend.path}/`));
        }
        expect(valuesOf(response, 'content-type').join(), path).to.not.match(/html/);
      }
      expect(backend.requests.length).to.be.above(counted + 1);
    });
  }

  it('is not reached by a path with an empty segment before its name', async () => {
    const counted = backend.requests.length;
    const response = await send(`GET ${backend.path.replace('/nodes', '//nodes')}`);
    expect([response.status, backend.requests.length]).to.deep.equal([400, counted]);
  });

  it('has no control characters in a header', async () => {
    backend.respond = ({ socket }) => {
      socket.end('HTTP/1.1 200 OK\r\nContent-Type: text/html\0\r\nContent-Length: 2\r\n\r\nhi');
    };
    const response = await send(`GET ${backend.path}/nul`);
    expect(response.status).to.be.at.least(500);
    expect(valuesOf(response, 'content-type').join()).to.match(INERT);
  });

  describe('responses of this server with text of a tenant', () => {
    const PATHS = [
      `/kapis/resources.platform.io/v1alpha3/${ENCODED}`,
      `/kapis/resources.platform.io/v1alpha3/pods?sortBy=${ENCODED}`,
      `/kapis/resources.platform.io/v1alpha3/namespaces/default/configmaps?name=${ENCODED}`,
      `/kapis/resources.platform.io/v1alpha3/search?q=${ENCODED}`,
      `/kapis/iam.platform.io/v1beta1/users/${ENCODED}`,
      `/kapis/logging.platform.io/v1alpha2/logs?log=${ENCODED}`,
      `/kapis/logging.platform.io/v1alpha2/logs?operation=export&log=${ENCODED}`,
      `/kapis/logging.platform.io/v1alpha2/logs?operation=export&format=csv`,
      `/apis/resources.platform.io/v1alpha3/nodes?labelSelector=${ENCODED}`,
      `/apis/resources.platform.io/v1alpha3/nodes/${ENCODED}`,
      `/apis/resources.platform.io/v1alpha3/${ENCODED}`,
      '/apis/resources.platform.io/v1alpha3',
      '/kapis/',
      '/openapi/platform.json',
      '/openapi/custom-resources.json',
      '/metrics',
      '/livez?verbose',
      `/readyz/${ENCODED}`,
      `/readyz?exclude=${ENCODED}`,
      `/${ENCODED}`,
      `/oauth/${ENCODED}`,
      `/oauth/userinfo?a=${ENCODED}`,
      '/oauth/keys',
      '/.well-known/openid-configuration',
      '/oauth/.well-known/openid-configuration',
      `/api/v1/namespaces/${ENCODED}`,
      `/api/v1/namespaces/${MARKUP}`,
      `/version/${ENCODED}`,
    ];
    for (const path of PATHS) {
      it(`have a type that no browser renders, and nosniff: ${path}`, async () => {
        const response = await send(`GET ${path}`, ['Accept: text/html,*/*']);
        expect(valuesOf(response, 'x-content-type-options')).to.deep.equal(['nosniff']);
        // The pages of sign-in have a policy of their own.
        if (valuesOf(response, 'content-type').join().startsWith('text/html')) {
          expect(valuesOf(response, 'content-security-policy').join()).to.match(/default-src 'none'/);
          expect(response.body.toString()).to.not.contain(MARKUP);
        } else expect(valuesOf(response, 'content-type').join()).to.match(INERT);
      });
    }

    it('are never the script of a service worker', async () => {
      for (const path of ['/livez', '/openapi/page/page.js', '/oauth/page.css', '/kapis', '/api']) {
        for (const header of ['Service-Worker: script', 'Sec-Fetch-Dest: serviceworker']) {
          const response = await send(`GET ${path}`, [header]);
          expect(response.status, `${path}, ${header}`).to.equal(403);
        }
      }
    });

    it('have nosniff if the request is malformed', async () => {
      const { server, controlPlane } = platform;
      const target = { port: Number(new URL(server.url).port), ca: controlPlane.ca };
      for (const lines of [
        [`GET /${MARKUP} HTTP/9.9`],
        ['GET / HTTP/1.1', MARKUP],
        [`${MARKUP} / HTTP/1.1`],
      ]) {
        const response = await rawRequest(target, lines);
        expect(response.status).to.equal(400);
        expect(valuesOf(response, 'x-content-type-options')).to.deep.equal(['nosniff']);
      }
    });
  });
});
