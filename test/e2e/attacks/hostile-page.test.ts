// Attacks of hostile web pages in a real browser: pages of a backend behind `nodes/proxy` that everybody can open, and pages
// of another site that use the client certificate of their visitor.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { createInterface } from 'node:readline';
import { expect } from 'chai';
import type { Page } from 'puppeteer-core';
import { type StartedChromium, startChromium } from '../../../hack/browser/chromium.ts';
import type { ServerProcess } from '../../../hack/extension/server-process.ts';
import { listenOnLoopback } from '../../support/loopback.ts';
import { authorizationQuery } from '../../support/oauth/authorization-query.ts';
import { until } from '../../support/until.ts';
import { WebBackend } from '../gateway/web-backend.ts';
import { Platform } from '../platform.ts';
import { type BrowserProxy, tunnelTo, withCertificate, withoutFetchMetadata } from './browser-proxy.ts';
import { DECLARED, HTML, STYLE_SHEET } from './declared-types.ts';

const PROXY_HOST = 'pages.platform.test';
const CLIENT = {
  id: 'web',
  public: true,
  grants: ['authorization_code'],
  redirectURIs: ['https://console.example.com/callback'],
};
const SIGN_IN = `/oauth/authorize?${authorizationQuery('v'.repeat(43), { client_id: CLIENT.id, redirect_uri: CLIENT.redirectURIs[0] ?? '', state: 'a' })}`;
const NODES = '/apis/resources.platform.io/v1alpha3/nodes';
const SCRIPT =
  "self.ran = self.origin; self.postMessage?.('ran'); self.onconnect = ({ ports: [port] }) => port.postMessage('ran');";

describe('a hostile page', function () {
  this.timeout(300_000);
  let platform: Platform;
  let backend: WebBackend;
  let chromium: StartedChromium;
  /** A page of another site. */
  let site: Server;
  let siteOrigin: string;
  let page: Page;
  /** The server as a browser without Fetch Metadata sees it. */
  let old: BrowserProxy;

  before(async () => {
    platform = await Platform.start(1, {
      configure: async () => ({ gateway: { proxyHost: PROXY_HOST }, oauth: { clients: [CLIENT] } }),
    });
    backend = await WebBackend.start(platform, 'hostile');
    backend.respond = ({ url = '' }, response) => {
      const [, index] = /\/declared\/(\d+)$/.exec(url) ?? [];
      const declared = index === undefined ? undefined : DECLARED[Number(index)];
      if (declared)
        return void response.writeHead(declared.status ?? 200, [...declared.headers]).end(declared.body);
      if (url.endsWith('.xsl'))
        return void response.writeHead(200, { 'Content-Type': 'text/xsl' }).end(STYLE_SHEET);
      if (url.endsWith('.css'))
        return void response.writeHead(200, { 'Content-Type': 'text/css' }).end('body { color: red }');
      if (url.endsWith('.js')) {
        const headers = { 'Content-Type': 'text/javascript', 'Service-Worker-Allowed': '/' };
        return void response.writeHead(200, headers).end(SCRIPT);
      }
      const headers = {
        'Content-Type': 'text/html',
        'Clear-Site-Data': '"cookies"',
        'Set-Cookie': ['theme=dark; Path=/'],
      };
      return void response.writeHead(200, headers).end(HTML);
    };
    await platform.succeeding(
      'create clusterrole hostile --verb=get --resource=nodes/proxy --resource-name=hostile',
    );
    await platform.bind('hostile', '--user=system:anonymous');
    await until(async () => (await platform.curl(undefined, `${backend.path}/page`)).status === 200);
    site = createServer((_request, response) => {
      response.setHeader('Content-Type', 'text/html');
      response.end('<!doctype html><title>another site</title>');
    });
    siteOrigin = `http://127.0.0.1:${await listenOnLoopback(site)}`;
    old = await withoutFetchMetadata(platform, platform.server.url);
    chromium = await startChromium([
      '--ignore-certificate-errors',
      '--host-resolver-rules=MAP *.platform.test 127.0.0.1',
    ]);
    page = await chromium.browser.newPage();
    page.setDefaultTimeout(60_000);
  });
  after(async () => {
    await chromium?.[Symbol.asyncDispose]();
    old?.[Symbol.dispose]();
    site?.closeAllConnections();
    site?.close();
    await backend?.stop();
    await platform?.stop();
  });

  const atServer = (path: string): string => platform.server.url + path;
  const at = (host: string, path: string): string => atServer(path).replace(/127\.0\.0\.1|localhost/, host);
  const atProxyHost = (path: string): string => at(PROXY_HOST, path);

  /** The origins in which scripts of the backend have run in this page and its frames. */
  async function originsOfScripts(): Promise<unknown[]> {
    const ran = await Promise.all(
      page.frames().map((frame) => frame.evaluate('globalThis.ran').catch(() => undefined)),
    );
    return ran.filter((origin) => origin !== undefined);
  }

  /** Opens a URL; a download leaves the page empty. */
  async function open(url: string): Promise<number | undefined> {
    await page.goto('about:blank');
    const response = await page.goto(url).catch(() => undefined);
    return response?.status();
  }

  /** Shows URLs of `origin` in frames of a page of another site. */
  async function embed(paths: readonly string[], origin: string): Promise<void> {
    await page.goto(siteOrigin);
    const elements = paths.flatMap((path) => [
      `<iframe src="${origin}${path}"></iframe>`,
      `<object data="${origin}${path}" type="text/html"></object>`,
      `<embed src="${origin}${path}" type="text/html">`,
    ]);
    await page.setContent(elements.join('\n'), { waitUntil: 'load' });
  }

  const declaredPath = (index: number): string => `${backend.path}/declared/${index}`;

  it('has at least twenty ways to declare a page or a script', () => {
    expect(DECLARED.length).to.be.at.least(20);
  });

  it('is not sent to a browser that navigates', async () => {
    const before = backend.requests.length;
    for (const [index, { title }] of DECLARED.entries()) {
      expect(await open(atServer(declaredPath(index))), title).to.equal(403);
      expect(await originsOfScripts(), title).to.deep.equal([]);
    }
    expect(await page.evaluate('document.body.innerText')).to.contain('gateway.proxyHost');
    expect(backend.requests.length).to.equal(before);
  });

  for (const [index, { title }] of DECLARED.entries()) {
    it(`runs no script in a browser without Fetch Metadata: ${title}`, async () => {
      const before = backend.requests.length;
      await open(old.origin + declaredPath(index));
      expect(await originsOfScripts()).to.deep.equal([]);
      expect(backend.requests.length).to.be.above(before);
    });
  }

  for (const browser of ['a browser', 'a browser without Fetch Metadata']) {
    it(`runs no script in a frame, object or embed: ${browser}`, async () => {
      const origin = browser === 'a browser' ? platform.server.url : old.origin;
      await embed(
        DECLARED.map((_, index) => declaredPath(index)),
        origin,
      );
      expect(page.frames().length).to.be.above(DECLARED.length);
      expect(await originsOfScripts()).to.deep.equal([]);
    });

    it(`installs no service worker: ${browser}`, async () => {
      const origin = browser === 'a browser' ? platform.server.url : old.origin;
      await page.goto(`${origin}/livez`);
      for (const options of ["{ scope: '/' }", "{ scope: '/', type: 'module' }", '{}']) {
        const script = JSON.stringify(`${backend.path}/worker.js`);
        const registered = await page.evaluate(
          `navigator.serviceWorker.register(${script}, ${options}).then(() => 'registered', ({ name }) => name)`,
        );
        expect(registered, options).to.not.equal('registered');
      }
      expect(
        await page.evaluate('navigator.serviceWorker.getRegistrations().then(({ length }) => length)'),
      ).to.equal(0);
    });
  }

  it('is no script, worker, module, style or image of a page of this server', async () => {
    await page.goto(atServer('/livez'));
    const before = backend.requests.length;
    const results = await page.evaluate(`(async () => {
      const script = ${JSON.stringify(`${backend.path}/script.js`)};
      const style = ${JSON.stringify(`${backend.path}/style.css`)};
      const loaded = (element, attributes) => new Promise((resolve) => {
        Object.assign(element, attributes, { onload: () => resolve('loaded'), onerror: () => resolve('refused') });
        document.head.append(element);
      });
      const worked = (worker) => new Promise((resolve) => {
        (worker.port ?? worker).onmessage = () => resolve('loaded');
        worker.onerror = () => resolve('refused');
      });
      const create = (tag) => document.createElement(tag);
      return {
        script: await loaded(create('script'), { src: script }),
        module: await loaded(create('script'), { src: script, type: 'module' }),
        imported: await import(script).then(() => 'loaded', () => 'refused'),
        style: await loaded(create('link'), { href: style, rel: 'stylesheet' }),
        preload: await loaded(create('link'), { href: script, rel: 'modulepreload' }),
        image: await loaded(create('img'), { src: style }),
        worker: await worked(new Worker(script)),
        moduleWorker: await worked(new Worker(script, { type: 'module' })),
        sharedWorker: await worked(new SharedWorker(script)),
        worklet: await CSS.paintWorklet?.addModule(script).then(() => 'loaded', () => 'refused') ?? 'refused',
        opaque: await fetch(script, { mode: 'no-cors' }).then(({ status }) => status === 403 ? 'refused' : 'loaded'),
      };
    })()`);
    expect(new Set(Object.values(results as object)), JSON.stringify(results)).to.deep.equal(
      new Set(['refused']),
    );
    expect(backend.requests.length).to.equal(before);
    // A script can still read data.
    const data = `fetch(${JSON.stringify(`${backend.path}/script.js`)}).then((response) => response.text())`;
    expect(await page.evaluate(data)).to.equal(SCRIPT);
  });

  it('neither reads, sets nor clears cookies of the sign-in pages', async () => {
    for (const origin of [platform.server.url, old.origin]) {
      await page.goto(origin + SIGN_IN);
      expect(await page.$('input[name=ticket]')).to.not.equal(null);
      const before = await page.cookies();
      expect(before.map(({ name }) => name)).to.deep.equal(['__Host-sign-in']);
      await open(`${origin}${backend.path}/page`);
      await page.goto(origin + SIGN_IN);
      expect((await page.cookies()).map(({ name, value }) => ({ name, value }))).to.deep.equal(
        before.map(({ name, value }) => ({ name, value })),
      );
    }
  });

  describe('at gateway.proxyHost', () => {
    it('is shown with its scripts, styles, data and cookies', async () => {
      expect(await open(atProxyHost(`${backend.path}/page`))).to.equal(200);
      expect(await originsOfScripts()).to.deep.equal([new URL(atProxyHost('/')).origin]);
      const results = await page.evaluate(`(async () => {
        const loaded = (tag, attributes) => new Promise((resolve) => {
          const element = Object.assign(document.createElement(tag), attributes, {
            onload: () => resolve(true), onerror: () => resolve(false),
          });
          document.head.append(element);
        });
        return [
          await loaded('script', { src: 'script.js' }),
          await loaded('link', { rel: 'stylesheet', href: 'style.css' }),
          await fetch('script.js').then(({ ok }) => ok),
          document.cookie,
        ];
      })()`);
      expect(results).to.deep.equal([true, true, true, 'theme=dark']);
    });

    it('does not read the ticket of the sign-in pages, and has none at its own host', async () => {
      await open(atProxyHost(`${backend.path}/page`));
      const read = (url: string): Promise<unknown> =>
        page.evaluate(
          `fetch(${JSON.stringify(url)}, { credentials: 'include' }).then(({ status }) => status, ({ name }) => name)`,
        );
      expect(await read(atServer(SIGN_IN))).to.equal('TypeError');
      for (const path of [
        SIGN_IN,
        '/oauth/token',
        '/kapis',
        '/livez',
        '/openapi/page',
        '/api/v1/nodes',
        NODES,
      ]) {
        expect(await read(atProxyHost(path)), path).to.equal(404);
      }
    });

    it('gets no cookie of a console at the host of the server', async () => {
      await page.goto(at('api.platform.test', '/livez'));
      await page.evaluate("document.cookie = '__Host-console=stolen; Secure; Path=/; SameSite=Strict'");
      // A page of the same site: the browser sends the cookie.
      await open(atProxyHost(`${backend.path}/page`));
      const before = backend.requests.length;
      const url = JSON.stringify(at('api.platform.test', `${backend.path}/page`));
      const read = `fetch(${url}, { credentials: 'include' }).then(({ status }) => status, ({ name }) => name)`;
      expect(await page.evaluate(read)).to.equal('TypeError');
      expect(backend.requests.length).to.equal(before + 1);
      expect(backend.requests.at(-1)?.rawHeaders.join()).to.not.contain('stolen');
    });

    it('is shown with the token that kubectl proxy adds, in the origin of kubectl proxy', async () => {
      await platform.bind('hostile', '--serviceaccount=default:default');
      const token = (await platform.succeeding('create token default')).trim();
      using tunnel = await tunnelTo(new URL(platform.server.url).port);
      const visit = async (server: string): Promise<number | undefined> => {
        const flags = [
          '--kubeconfig=/dev/null',
          `--server=${server}`,
          '--insecure-skip-tls-verify',
          `--token=${token}`,
        ];
        const proxy = spawn(platform.controlPlane.kubectl, ['proxy', '--port=0', ...flags], {
          env: { ...platform.environment(), HTTPS_PROXY: tunnel.url },
          stdio: ['ignore', 'pipe', 'inherit'],
        });
        try {
          const [line] = (await once(createInterface(proxy.stdout), 'line')) as [string];
          const [, address] = /^Starting to serve on (.+)$/.exec(line) ?? [];
          return await open(`http://${address}${backend.path}/page`);
        } finally {
          proxy.kill();
        }
      };
      expect(await visit(new URL(atProxyHost('/')).origin)).to.equal(200);
      expect(await originsOfScripts()).to.deep.equal([new URL(page.url()).origin]);
      expect(backend.requests.at(-1)?.rawHeaders.join()).to.not.contain(token);
      expect(await visit(platform.server.url)).to.equal(403);
    });

    it('installs no service worker, which would respond for the other backends', async () => {
      await open(atProxyHost(`${backend.path}/page`));
      for (const options of ["{ scope: '/' }", '{}']) {
        const registered = `navigator.serviceWorker.register('worker.js', ${options}).then(() => 'registered', ({ name }) => name)`;
        expect(await page.evaluate(registered), options).to.not.equal('registered');
      }
    });
  });

  describe('with the client certificate of its visitor', () => {
    let server: ServerProcess;
    let visitor: BrowserProxy;

    before(async () => {
      await platform.succeeding(
        'apply --server-side -f manifests/components/gateway-impersonation/access.yaml',
      );
      server = await platform.startReplica('impersonating', { gateway: { impersonation: 'certificates' } });
      await platform.bind('cluster-admin', '--user=carol');
      await platform.permitted('* * --as=carol');
      const pair = await platform.controlPlane.pki.issueClient({ cn: 'carol' });
      visitor = await withCertificate(platform, server.url, pair);
      await page.goto(`${visitor.origin}/livez`);
    });
    after(() => visitor?.[Symbol.dispose]());

    /** Sends requests in all the ways of a page to a backend and to this server; resolves with the results. */
    const attempts = (): Promise<unknown> =>
      page.evaluate(`(async () => {
        const backend = ${JSON.stringify(`${visitor.origin}${backend.path}/stolen`)};
        const sockets = [${JSON.stringify(NODES)}, '/api/v1/nodes'].map((path) =>
          ${JSON.stringify(visitor.origin.replace('https', 'wss'))} + path + '?watch=true');
        const settled = (promise) => promise.then(({ status }) => status, ({ name }) => name);
        const element = (tag, attributes) => new Promise((resolve) => {
          const created = Object.assign(document.createElement(tag), attributes, { onload: resolve, onerror: resolve });
          document.body.append(created);
        });
        const form = (method, enctype) => new Promise((resolve) => {
          const frame = document.createElement('iframe');
          frame.name = method + enctype;
          document.body.append(frame);
          frame.onload = resolve;
          const created = Object.assign(document.createElement('form'), { action: backend, method, enctype, target: frame.name });
          document.body.append(created);
          created.submit();
        });
        await element('img', { src: backend });
        await element('iframe', { src: backend });
        await form('get', '');
        await form('post', 'text/plain');
        return {
          fetched: await settled(fetch(backend)),
          opaque: await settled(fetch(backend, { mode: 'no-cors' })),
          posted: await settled(fetch(backend, { mode: 'no-cors', method: 'POST', body: 'a' })),
          sockets: await Promise.all(sockets.map((url) => new Promise((resolve) => {
            const socket = new WebSocket(url, ['base64.binary.k8s.io']);
            socket.onopen = () => { resolve('open'); socket.close(); };
            socket.onerror = () => resolve('refused');
          }))),
        };
      })()`);

    it('reaches no backend and opens no WebSocket from another site', async () => {
      const before = backend.requests.length;
      await page.goto(siteOrigin);
      expect(await attempts())
        .to.have.property('sockets')
        .that.deep.equals(['refused', 'refused']);
      expect(backend.requests.length).to.equal(before);
    });

    it('is available to the pages of the server itself', async () => {
      const before = backend.requests.length;
      await page.goto(`${visitor.origin}/livez`);
      expect(await attempts()).to.deep.include({ fetched: 200, sockets: ['open', 'open'] });
      expect(backend.requests.length).to.equal(before + 1);
    });

    it('signs in without the certificate, from a link of another site', async () => {
      await page.goto(siteOrigin);
      await Promise.all([
        page.waitForNavigation(),
        page.evaluate(`location.href = ${JSON.stringify(`${visitor.origin}/oauth/authorize`)}`),
      ]);
      // The page says that the client is missing: the caller is not refused.
      expect(await page.evaluate('document.querySelector("h1")?.innerText ?? ""')).to.not.equal('');
    });
  });
});
