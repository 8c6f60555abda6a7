// Tests of the example programs in docs/consoles.md and docs/resource-lists.md, in a real
// browser. The page and ks-apiserver have different origins.
import { randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import type { Page } from 'puppeteer-core';
import { loadVictoriaLogs } from '../../../hack/log-stores/load-victorialogs.ts';
import type { LogStoreProcess } from '../../../hack/log-stores/log-store.ts';
import { type StartedChromium, startChromium } from '../../support/chromium.ts';
import { line } from '../../support/logging/log-service.ts';
import { authorizationQuery } from '../../support/oauth/authorization-query.ts';
import { submitForm } from '../../support/submit-form.ts';
import { until } from '../../support/until.ts';
import type { GatewayPlatform } from '../gateway/gateway-platform.ts';
import { PASSWORD, type Platform } from '../platform.ts';
import type { ConsoleSite } from './console-site.ts';
import { addUser, sharedConfigured } from './shared-configured.ts';

/** Of the lines that the tests write. */
const NAMESPACE = 'payments';
const NODES = '/kapis/resources.platform.io/v1alpha3/nodes';

describe('a console in a browser, from another origin', () => {
  let site: ConsoleSite;
  let origin: string;
  let store: LogStoreProcess;
  let gateway: GatewayPlatform;
  let platform: Platform;
  let chromium: StartedChromium;
  let page: Page;

  before(async () => {
    ({ gateway, store, site } = await sharedConfigured());
    ({ platform } = gateway);
    ({ origin } = site);
    await platform.bind('cluster-admin', '--user=alice');
    await platform.permitted('* * --as=alice');
    await addUser(platform, 'alice');
    chromium = await startChromium();
    page = await newPage();
    await signIn();
  });

  after(() => chromium?.[Symbol.asyncDispose]());

  async function newPage(at = origin): Promise<Page> {
    const opened = await chromium.browser.newPage();
    opened.setDefaultTimeout(60_000);
    await opened.goto(at);
    return opened;
  }

  /** Signs in and stores the tokens for the programs. */
  async function signIn(): Promise<void> {
    const verifier = randomBytes(32).toString('base64url');
    const redirect_uri = `${origin}/callback`;
    const query = authorizationQuery(verifier, { client_id: 'web', redirect_uri, state: 'here' });
    await page.goto(`${platform.server.url}/oauth/authorize?${query}`);
    await submitForm(page, { username: 'alice', password: PASSWORD });
    const { searchParams, origin: landed } = new URL(page.url());
    expect({ landed, state: searchParams.get('state') }).to.deep.equal({ landed: origin, state: 'here' });
    const code = searchParams.get('code') ?? '';
    const form = { grant_type: 'authorization_code', client_id: 'web', code, redirect_uri };
    await inPage(
      `fetch(server + '/oauth/token', {
        method: 'POST',
        body: new URLSearchParams(${JSON.stringify({ ...form, code_verifier: verifier })}),
      }).then((answer) => answer.json()).then(store)`,
    );
  }

  /** Evaluates an expression in a page and awaits its promise. */
  const inPage = (expression: string, where = page): Promise<unknown> => where.evaluate(expression);

  it('reads responses, their headers and errors', async () => {
    const first = await inPage(`request('${NODES}?limit=1').then(async (answer) => ({
      etag: answer.headers.get('ETag'), total: (await answer.json()).totalItems,
    }))`);
    expect(first).to.have.property('total', 2);
    const unchanged = `request('${NODES}?limit=1', { 'If-None-Match': ${JSON.stringify((first as { etag: string }).etag)} })`;
    expect(await inPage(`${unchanged}.then(({ status }) => status)`)).to.equal(304);
    for (const [path, status, words] of [
      [`${NODES}?nmae=x`, 400, 'did you mean "name"?'],
      [`${NODES}//`, 400, 'the path has an empty segment'],
      [`${NODES}/none`, 404, 'not found'],
      ['/kapis/logging.platform.io/v1alpha2/namespaces/shop', 410, 'use GET /kapis/logging'],
    ] as const) {
      const refused = await inPage(
        `request('${path}').catch(({ status, message }) => ({ status, message }))`,
      );
      expect(refused, path).to.have.property('status', status);
      expect(refused).to.have.property('message').that.includes(words);
    }
  });

  it('stays signed in when many pages refresh at once', async () => {
    const other = await newPage();
    await inPage(`store({ ...JSON.parse(localStorage.getItem('tokens')), expires_in: 0 })`);
    const before = await inPage(`JSON.parse(localStorage.getItem('tokens')).access_token`);
    const [mine, theirs] = await Promise.all([inPage('token()'), inPage('token()', other)]);
    expect(mine).to.be.a('string').that.equals(theirs).and.not.equals(before);
    expect(await inPage(`request('/oauth/userinfo').then((answer) => answer.json())`)).to.include({
      sub: 'alice',
    });
    await other.close();
  });

  it('shows a line once that is written while the server restarts', async () => {
    const write = (log: string): Promise<unknown> =>
      loadVictoriaLogs(store.url, [
        line(new Date().toISOString().replace('Z', '000000Z'), log, { namespace: NAMESPACE }),
      ]);
    await inPage(`(() => {
      globalThis.lines = [];
      globalThis.away = new AbortController();
      follow({ namespaces: '${NAMESPACE}' }, ({ log }) => lines.push(log), away.signal).catch((error) => lines.push(String(error)));
    })()`);
    const shown = (): Promise<unknown> => inPage('lines');
    await write('before');
    await until(async () => String(await shown()).includes('before'));
    const back = platform.restartServer('SIGTERM');
    await write('meanwhile');
    await back;
    await until(async () => String(await shown()).includes('meanwhile'));
    await write('after');
    await until(async () => String(await shown()).includes('after'));
    expect(await shown()).to.deep.equal(['before', 'meanwhile', 'after']);
    await inPage('away.abort()');
  });

  it('shows a list again when it changes, also after the server restarts', async () => {
    const path = '/kapis/resources.platform.io/v1alpha3/namespaces/shop/configmaps?name=cart';
    await inPage(`(() => {
      globalThis.totals = [];
      globalThis.away = new AbortController();
      followList('${path}', ({ totalItems }) => totals.push(totalItems), away.signal).catch((error) => totals.push(String(error)));
    })()`);
    const shows = (total: number): Promise<void> =>
      until(async () => String(await inPage('totals.at(-1)')) === String(total));
    await shows(0);
    await platform.succeeding('create configmap cart --namespace=shop');
    await shows(1);
    await platform.restartServer('SIGTERM');
    await platform.succeeding('create configmap cart-settings --namespace=shop');
    await shows(2);
    expect(await inPage('totals')).to.deep.equal([0, 1, 2]);
    await inPage('away.abort()');
  });

  it('saves an export under the file name of the server', async () => {
    const session = await page.createCDPSession();
    const downloadPath = join(dirname(await platform.write('downloaded', '')), 'downloads');
    await session.send('Browser.setDownloadBehavior', { behavior: 'allow', downloadPath });
    const text = await inPage(
      `save({ namespaces: '${NAMESPACE}', sort: 'asc' }).then((file) => file.text())`,
    );
    expect(text).to.match(/^time,namespace,pod,container,log\r\n(.*\r\n){3}$/);
    let saved: string | undefined;
    await until(async () => {
      saved = (await readdir(downloadPath).catch(() => [])).find((name) => name.endsWith('.csv'));
      return saved !== undefined;
    });
    expect(saved).to.match(/^logs-\d{8}T\d{6}Z\.csv$/);
    // `Blob.text()` removes the byte order mark.
    expect(await readFile(join(downloadPath, saved ?? ''), 'utf8')).to.equal(`\ufeff${String(text)}`);
  });

  it('changes an object through the gateway, and reads the result, warnings and errors', async () => {
    const settings = '/api/v1/namespaces/shop/configmaps/settings';
    await platform.succeeding('create configmap settings --namespace=shop');
    const patch = (body: string, query = ''): string =>
      `send('PATCH', '${settings}${query}', ${body}, 'application/merge-patch+json')`;
    expect(await inPage(`${patch('{ data: { a: "b" } }')}.then(({ object }) => object.data)`)).to.deep.equal({
      a: 'b',
    });
    const unknown = patch('{ datum: {} }', '?fieldValidation=Warn');
    expect(await inPage(`${unknown}.then(({ warning }) => warning)`)).to.equal(
      '299 - "unknown field \\"datum\\""',
    );
    const stale = `send('PUT', '${settings}', { metadata: { name: 'settings', resourceVersion: '1' } })`;
    expect(await inPage(`${stale}.catch(({ status }) => status)`)).to.equal(409);
    const { message } = (await inPage(
      `request('${settings}s').catch(({ status, message }) => ({ status, message }))`,
    )) as { message: string };
    expect(message).to.equal('configmaps "settingss" not found');
  });

  it('follows the log of a pod', async () => {
    const { namespace, name } = gateway.pod;
    await inPage(`(() => {
      globalThis.log = '';
      globalThis.away = new AbortController();
      followPodLog('${namespace}', '${name}', (text) => { log += text; }, away.signal).catch((error) => { log += error; });
    })()`);
    // The last line of the simulated log.
    await until(async () => String(await inPage('log')).includes('"n":399'));
    await inPage('away.abort()');
    await gateway.settled();
  });

  it('opens a shell in a pod', async () => {
    const { namespace, name } = gateway.pod;
    await inPage(`(async () => {
      globalThis.screen = '';
      globalThis.shell = await openShell('${namespace}', '${name}', ['sh'], (text) => { globalThis.screen += text; });
      shell.resize(77, 33);
      shell.type('until stty size | grep "33 77"; do sleep 0.1; done; echo $((6 * 7))\\n');
    })()`);
    await until(async () => String(await inPage('screen')).includes('33 77\r\n42\r\n'));
    // After the output, because KWOK drops output that it has not sent when the program ends.
    const status = await inPage(`(() => { shell.type('exit\\n'); return shell.ended; })()`);
    expect(status).to.include({ status: 'Success' });
    const accessToken = String(await inPage('token()'));
    expect(await gateway.serverLog()).not.to.include(Buffer.from(accessToken).toString('base64url'));
    const rejected = `openShell('${namespace}', 'nobody', ['sh'], () => {}).catch(({ message }) => message)`;
    expect(await inPage(rejected)).to.equal('the shell was rejected');
  });

  it('cannot read responses if its origin is not allowed', async () => {
    const stranger = await newPage(origin.replace('127.0.0.1', 'localhost'));
    const fetchVersion = `fetch(server + '/version').then(({ status }) => status, (error) => error.name)`;
    expect(await inPage(fetchVersion, stranger)).to.equal('TypeError');
    expect(await inPage(fetchVersion)).to.equal(200);
    await stranger.close();
  });
});
