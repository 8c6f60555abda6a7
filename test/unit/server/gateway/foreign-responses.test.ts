// Tests of responses through the gateway that may be from a hostile backend, with a scripted kube-apiserver.
import { expect } from 'chai';
import { parseResponse, type RawResponse } from '../../../e2e/gateway/raw-request.ts';
import { ForwardingServer, readAll } from '../../../support/gateway/forwarding-server.ts';
import { ScriptedUpstream } from '../../../support/gateway/scripted-upstream.ts';

const PROXY_HOST = 'pages.example.com';
const PAGE = '/api/v1/namespaces/shop/pods/cart/proxy/';
const SANDBOX = "sandbox; default-src 'none'; frame-ancestors 'none'";

/** Headers that act on an origin, on the browser or on later requests, with a value that a browser accepts. */
const ACTING: Readonly<Record<string, string>> = {
  'Accept-CH': 'Sec-CH-UA-Model',
  'Access-Control-Allow-Credentials': 'true',
  'Access-Control-Allow-Origin': 'https://evil.example',
  'Alt-Svc': 'h2="evil.example:443"; ma=86400',
  'Cache-Status': 'ks-apiserver; hit',
  'Clear-Site-Data': '"*"',
  'Critical-CH': 'Sec-CH-UA-Model',
  'Cross-Origin-Opener-Policy': 'unsafe-none',
  Link: '</evil.js>; rel=modulepreload',
  NEL: '{"report_to":"evil","max_age":31536000,"include_subdomains":true}',
  'Observe-Browsing-Topics': '?1',
  'Origin-Agent-Cluster': '?0',
  'Permissions-Policy': 'camera=*',
  'Proxy-Authenticate': 'Basic realm="platform"',
  'Public-Key-Pins': 'pin-sha256="AA=="; max-age=86400',
  Refresh: '0; url=https://evil.example/',
  'Report-To': '{"group":"evil","max_age":31536000,"endpoints":[{"url":"https://evil.example/"}]}',
  'Reporting-Endpoints': 'evil="https://evil.example/"',
  'Server-Timing': 'evil',
  'Service-Worker-Allowed': '/',
  'Set-Cookie': '__Host-sign-in=forged; Path=/; Secure',
  'Set-Login': 'logged-in',
  SourceMap: 'https://evil.example/map',
  'Speculation-Rules': '"/evil.json"',
  'Strict-Transport-Security': 'max-age=31536000; includeSubDomains',
  'Supports-Loading-Mode': 'credentialed-prerender',
  'Timing-Allow-Origin': '*',
  'Use-As-Dictionary': 'match="/*"',
  'WWW-Authenticate': 'Basic realm="platform"',
  'X-Frame-Options': 'ALLOWALL',
  'X-XSS-Protection': '0',
};
/** Headers that clients need. */
const DESCRIBING: Readonly<Record<string, string>> = {
  'Accept-Ranges': 'bytes',
  'Cache-Control': 'max-age=60',
  'Content-Disposition': 'attachment; filename="a.json"',
  'Content-Language': 'en',
  ETag: '"a"',
  Expires: 'Thu, 01 Jan 2026 00:00:00 GMT',
  'Last-Modified': 'Thu, 01 Jan 2026 00:00:00 GMT',
  'Retry-After': '1',
  Warning: '299 - "deprecated"',
  'X-Kubernetes-PF-FlowSchema-UID': '1',
};

describe('a response of a hostile backend', () => {
  let upstream: ScriptedUpstream;
  let server: ForwardingServer;

  before(async () => {
    upstream = await ScriptedUpstream.start();
    server = await ForwardingServer.start({ cluster: () => upstream, proxyHost: PROXY_HOST });
  });
  after(async () => {
    await server.stop();
    await upstream.stop();
  });

  async function get(path: string, headers: readonly string[] = [], host?: string): Promise<RawResponse> {
    const lines = [`GET ${path} HTTP/1.1`, ...headers, 'Connection: close'];
    return parsed(await readAll(await server.send(lines, '', host)));
  }

  const parsed = (bytes: string): RawResponse => parseResponse(Buffer.from(bytes, 'latin1'));

  const valuesOf = ({ headers }: RawResponse, name: string): string[] =>
    headers.filter(([own]) => own === name).map(([, value]) => value);

  const respondWith = (...headers: readonly string[]): void => {
    upstream.respond = (_request, response) => response.writeHead(200, [...headers]).end('body');
  };

  for (const path of [
    PAGE,
    '/api/v1/pods',
    '/apis/foreign.example/v1/things',
    '/openapi/v2',
    '/api/v1/namespaces/shop/services/cart/%70roxy/',
    '/apis/foreign.example/v1/clusters/shop/proxy//page',
    '/api/v1/watch/pods',
  ]) {
    it(`passes no header that acts on the origin, always in a sandbox: ${path}`, async () => {
      respondWith(
        ...Object.entries({ ...ACTING, ...DESCRIBING }).flat(),
        'Audit-Id',
        'forged',
        'Content-Type',
        'application/json',
        'Content-Security-Policy',
        "script-src 'unsafe-inline'",
      );
      const response = await get(path);
      const passed = response.headers.map(([name]) => name);
      for (const name of Object.keys(ACTING)) expect(passed).to.not.include(name.toLowerCase());
      for (const [name, value] of Object.entries(DESCRIBING)) {
        expect(valuesOf(response, name.toLowerCase()), name).to.deep.equal([value]);
      }
      expect(valuesOf(response, 'content-security-policy')).to.deep.equal([SANDBOX]);
      expect(valuesOf(response, 'x-content-type-options')).to.deep.equal(['nosniff']);
      expect(valuesOf(response, 'audit-id')).to.have.length(1).and.not.include('forged');
    });
  }

  const OCTETS = 'application/octet-stream';
  const types: readonly (readonly [sent: readonly string[], received: string])[] = [
    [['application/json'], 'application/json'],
    [
      ['application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'],
      'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList',
    ],
    [['text/plain; charset="utf-8"'], 'text/plain; charset="utf-8"'],
    [
      ['application/com.github.proto-openapi.spec.v2@v1.0+protobuf'],
      'application/com.github.proto-openapi.spec.v2@v1.0+protobuf',
    ],
    [['text/html'], 'text/html'],
    [[], OCTETS],
    [[''], OCTETS],
    [['text/plain', 'text/html'], OCTETS],
    [['text/plain', 'text/plain'], OCTETS],
    [['text/plain, text/html'], OCTETS],
    [['text/plain; a="b, text/html"'], OCTETS],
    [['text/plain; a="b'], OCTETS],
    [['text/plain (text/html)'], OCTETS],
    [['text/plain; charset'], OCTETS],
    [['*/*;'], OCTETS],
    [['html'], OCTETS],
    [['text/html/json'], OCTETS],
    [['text /html'], OCTETS],
    [['text/html\u00a0'], OCTETS],
    [['multipart/x-mixed-replace; boundary=a'], OCTETS],
    [['Multipart/X-Mixed-Replace;boundary=a'], OCTETS],
    [[`text/plain;${' '.repeat(10_000)}a=b`], OCTETS],
    [['text/plain; ; charset=utf-8;'], 'text/plain; ; charset=utf-8;'],
    [[`a/b${'; '.repeat(120)},`], OCTETS],
    [[`a/b;${' \t'.repeat(120)},`], OCTETS],
  ];
  for (const [sent, received] of types) {
    it(`has exactly one valid type: ${JSON.stringify(sent).slice(0, 60)}`, async () => {
      respondWith(...sent.flatMap((type) => ['Content-Type', type]));
      expect(valuesOf(await get(PAGE), 'content-type')).to.deep.equal([received]);
    });
  }

  const locations: readonly (readonly [path: string, sent: string, received: string | undefined])[] = [
    [PAGE, 'login', `${PAGE}login`],
    [PAGE, `${PAGE}a?b#c`, `${PAGE}a?b#c`],
    [PAGE.slice(0, -1), PAGE, PAGE],
    ['/openapi/v3/api/v1', '/openapi/v3/api/v1?hash=1', '/openapi/v3/api/v1?hash=1'],
    [PAGE, '../../../secrets', undefined],
    [PAGE, '..%2f/../../secrets', undefined],
    [PAGE, '/api/v1/namespaces/shop/pods/cart/proxyx', undefined],
    [PAGE, '/oauth/authorize', undefined],
    [PAGE, '//evil.example/', undefined],
    [PAGE, '\\\\evil.example\\', undefined],
    [PAGE, 'https://evil.example/', undefined],
    [PAGE, 'javascript:alert(1)', undefined],
    ['/api/v1/pods', '/api/v1/secrets', undefined],
    ['/api/v1/namespaces/shop/pods/cart/%70roxy/', '/api/v1/secrets', undefined],
  ];
  for (const [path, sent, received] of locations) {
    it(`redirects to the same backend only: ${path} to ${sent}`, async () => {
      upstream.respond = (_request, response) => response.writeHead(307, { Location: sent }).end();
      expect(valuesOf(await get(path), 'location')).to.deep.equal(received === undefined ? [] : [received]);
    });
  }

  it('is no reason to replace the token of the impersonator, if it is a 401', async () => {
    let issued = 0;
    const spec = { expirationSeconds: 600 };
    const impersonating = await ForwardingServer.start({
      cluster: () => upstream,
      impersonator: {
        client: {
          json: () => Promise.resolve({ spec, status: { token: `token ${++issued}` } }),
        },
      },
    });
    try {
      const responses: readonly (readonly [
        path: string,
        headers: readonly string[],
        received: RegExp,
        issued: number,
      ])[] = [
        ...[
          PAGE,
          PAGE.replace('proxy/', 'exec?command=sh'),
          PAGE.replace('proxy/', 'log'),
          PAGE.replace('proxy/', 'attach?watch=true'),
        ].map((path) => [path, [], /^HTTP\/1\.1 401 .*sign in$/s, 1] as const),
        [
          '/apis/foreign.example/v1/things',
          ['X-Kubernetes-PF-FlowSchema-UID', '1'],
          /^HTTP\/1\.1 401 .*sign in$/s,
          1,
        ],
        ['/api/v1/pods', [], /^HTTP\/1\.1 503 .*token of the impersonator/s, 2],
        ['/api/v1/pods?watch=true', [], /^HTTP\/1\.1 503 .*token of the impersonator/s, 3],
      ];
      for (const [path, headers, received, expected] of responses) {
        upstream.respond = (_request, response) =>
          response.writeHead(401, ['Content-Length', '7', ...headers]).end('sign in');
        expect(await impersonating.exchange([`GET ${path} HTTP/1.1`])).to.match(received);
        expect(issued, path).to.equal(expected);
      }
    } finally {
      await impersonating.stop();
    }
  });

  it('has no early hints', async () => {
    upstream.respond = (_request, response) => {
      response.writeEarlyHints({ link: '</evil.js>; rel=preload; as=script' }, () => response.end('body'));
    };
    const response = await server.exchange([`GET ${PAGE} HTTP/1.1`]);
    expect(response)
      .to.match(/^HTTP\/1\.1 200 /)
      .and.not.match(/evil/);
  });

  it('has a type, although a Connection header names the type', async () => {
    respondWith(
      'Content-Type',
      'text/html',
      'Connection',
      'content-type, content-security-policy, x-content-type-options',
    );
    const response = await get(PAGE);
    expect(valuesOf(response, 'content-type')).to.deep.equal([OCTETS]);
    expect(valuesOf(response, 'content-security-policy')).to.deep.equal([SANDBOX]);
    expect(valuesOf(response, 'x-content-type-options')).to.deep.equal(['nosniff']);
  });

  const UPGRADE = [
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: AQIDBAUGBwgJCgsMDQ4PEA==',
  ];
  for (const status of ['101 Switching Protocols', '403 Forbidden']) {
    it(`passes no such header with the ${status} of an upgrade`, async () => {
      const acting = Object.entries(ACTING).map(([name, value]) => `${name}: ${value}`);
      upstream.upgrade = (_request, socket) => {
        const head = [
          `HTTP/1.1 ${status}`,
          ...acting,
          'Connection: Upgrade',
          'Upgrade: websocket',
          'Sec-WebSocket-Accept: a',
          'Content-Length: 0',
        ];
        socket.end(`${head.join('\r\n')}\r\n\r\n`);
      };
      const client = await server.send([`GET ${PAGE} HTTP/1.1`, ...UPGRADE]);
      const response = parsed(await readAll(client));
      expect(response.status).to.equal(Number(status.slice(0, 3)));
      const passed = response.headers.map(([name]) => name);
      for (const name of Object.keys(ACTING)) expect(passed).to.not.include(name.toLowerCase());
      expect(valuesOf(response, 'sec-websocket-accept')).to.deep.equal(['a']);
      expect(valuesOf(response, 'content-security-policy')).to.deep.equal([SANDBOX]);
    });
  }

  describe('in a browser', () => {
    /** Destinations of the Fetch standard, and words of the future. */
    const rendered =
      'audio audioworklet document embed font frame iframe image json manifest object paintworklet report script serviceworker sharedworker speculationrules style text track video webidentity worker xslt new Empty empty,document';
    const cases: readonly (readonly [headers: readonly string[], status: number])[] = [
      ...rendered
        .split(' ')
        .map((dest) => [[`Sec-Fetch-Dest: ${dest}`, 'Sec-Fetch-Mode: cors'], 403] as const),
      ...['navigate', 'no-cors', 'new', ''].map(
        (mode) => [['Sec-Fetch-Dest: empty', `Sec-Fetch-Mode: ${mode}`], 403] as const,
      ),
      [['Sec-Fetch-Mode: navigate'], 403],
      [['Sec-Fetch-Dest: document'], 403],
      [['Sec-Fetch-Dest: empty', 'Sec-Fetch-Dest: document'], 403],
      [['Service-Worker: script'], 403],
      ...['cors', 'same-origin'].map(
        (mode) => [['Sec-Fetch-Dest: empty', `Sec-Fetch-Mode: ${mode}`], 200] as const,
      ),
      [['Sec-Fetch-Dest: websocket', 'Sec-Fetch-Mode: websocket'], 200],
      [[], 200],
    ];
    for (const [headers, status] of cases) {
      it(`is ${status} for ${headers.join(', ') || 'a program without Fetch Metadata'}`, async () => {
        respondWith('Content-Type', 'text/html');
        for (const path of [PAGE, '/api/v1/pods', '/version', '/api/v1/namespaces/shop/pods/cart/%70roxy/']) {
          const before = upstream.received.length;
          const response = await get(path, headers);
          expect(response.status, path).to.equal(status);
          expect(upstream.received.length - before).to.equal(status === 200 ? 1 : 0);
          if (status === 200) continue;
          expect(JSON.parse(response.body.toString())).to.include({ kind: 'Status', reason: 'Forbidden' });
          expect(valuesOf(response, 'x-content-type-options')).to.deep.equal(['nosniff']);
        }
      });
    }
  });

  describe('at the proxy host', () => {
    const NAVIGATION = ['Sec-Fetch-Dest: document', 'Sec-Fetch-Mode: navigate', 'Sec-Fetch-Site: none'];

    for (const host of [
      PROXY_HOST,
      `${PROXY_HOST}:8443`,
      PROXY_HOST.toUpperCase(),
      `${PROXY_HOST}.`,
      `${PROXY_HOST}.:8443`,
    ]) {
      it(`is a page, with the headers of the page: ${host}`, async () => {
        respondWith(
          ...Object.entries(ACTING).flat(),
          'Content-Type',
          'text/html',
          'Content-Security-Policy',
          "script-src 'self'",
        );
        const response = await get(PAGE, NAVIGATION, host);
        expect(response.status).to.equal(200);
        expect(valuesOf(response, 'content-security-policy')).to.deep.equal(["script-src 'self'"]);
        expect(valuesOf(response, 'set-cookie')).to.deep.equal([ACTING['Set-Cookie']]);
        expect(valuesOf(response, 'x-content-type-options')).to.deep.equal(['nosniff']);
        for (const name of [
          'service-worker-allowed',
          'strict-transport-security',
          'nel',
          'clear-site-data',
          'www-authenticate',
          'alt-svc',
        ]) {
          expect(valuesOf(response, name), name).to.deep.equal([]);
        }
      });
    }

    it('gets cookies, as no backend at another host', async () => {
      respondWith();
      await get(PAGE, ['Cookie: theme=dark'], PROXY_HOST);
      expect(upstream.received.at(-1)?.headers.cookie).to.equal('theme=dark');
      await get(PAGE, ['Cookie: theme=dark', 'cookie: a=b']);
      expect(upstream.received.at(-1)?.headers).to.not.have.property('cookie');
    });

    it('is never the script of a service worker', async () => {
      respondWith('Content-Type', 'text/javascript');
      expect((await get(`${PAGE}sw.js`, ['Service-Worker: script'], PROXY_HOST)).status).to.equal(403);
      expect((await get(`${PAGE}sw.js`, ['Sec-Fetch-Dest: serviceworker'], PROXY_HOST)).status).to.equal(403);
    });

    for (const path of [
      '/api/v1/pods',
      '/oauth/authorize',
      '/kapis',
      '/livez',
      '/openapi/page',
      '/api/v1/namespaces//shop/pods/cart/proxy/',
      '/api/v1/namespaces/%2e%2e/pods/cart/proxy/',
      '/api/v1/namespaces/shop/pods/cart/%70roxy/',
      '/api/v1/proxy/namespaces/shop/pods/cart/',
    ]) {
      it(`is not ${path}`, async () => {
        const before = upstream.received.length;
        expect((await get(path, [], PROXY_HOST)).status).to.be.oneOf([400, 404]);
        expect(upstream.received.length).to.equal(before);
      });
    }
  });
});
