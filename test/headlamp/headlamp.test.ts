// Tests of Headlamp, unmodified, in a browser: signed in at this server, and behind its gateway.
import { writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { expect } from 'chai';
import type { Page } from 'puppeteer-core';
import { type StartedChromium, startChromium } from '../../hack/browser/chromium.ts';
import { startHeadlamp } from '../../hack/identity/headlamp.ts';
import { freePort } from '../../hack/system/ports.ts';
import { GatewayPlatform } from '../e2e/gateway/gateway-platform.ts';
import { PASSWORD, type Platform } from '../e2e/platform.ts';
import { until } from '../support/until.ts';

const USER = 'tessa';
const SECRET = 'secret of headlamp';
/** Headlamp refreshes a token that is valid for ten seconds or less: here with each request. */
const ACCESS_TOKEN_LIFETIME = '10s';

interface Response {
  readonly status: number;
  readonly text: string;
}

describe('Headlamp', () => {
  const stack = new AsyncDisposableStack();
  let gateway: GatewayPlatform;
  let platform: Platform;
  let chromium: StartedChromium;
  let page: Page;
  let origin: string;

  before(async () => {
    const port = await freePort();
    origin = `http://127.0.0.1:${port}`;
    gateway = await GatewayPlatform.start({
      configure: async ({ dir }) => {
        const secretFile = `${dir}/headlamp-secret`;
        await writeFile(secretFile, SECRET);
        const redirectURIs = [`${origin}/oidc-callback`];
        const clients = [{ id: 'headlamp', secretFiles: [secretFile], redirectURIs }];
        return { oauth: { clients, accessTokenLifetime: ACCESS_TOKEN_LIFETIME } };
      },
    });
    stack.defer(() => gateway.stop());
    ({ platform } = gateway);
    await platform.addUser(USER);
    await platform.bind('edit', `--user=${USER}`, gateway.pod.namespace);
    await platform.succeeding(
      'create clusterrole nodes-reader --verb=get,list,watch --resource=nodes,namespaces',
    );
    await platform.bind('nodes-reader', `--user=${USER}`);
    await platform.permitted(`list nodes --as=${USER}`);
    const dir = `${dirname(await platform.write('headlamp', ''))}/headlamp.d`;
    const server = platform.server.url;
    const { ca } = platform.controlPlane;
    stack.use(await startHeadlamp({ dir, port, server, ca, secret: SECRET, signal: platform.signal }));
    chromium = stack.use(await startChromium());
    page = await (await chromium.browser.createBrowserContext()).newPage();
    page.setDefaultTimeout(60_000);
  });
  after(() => stack.disposeAsync());

  /** The text of the page, once it has these words. */
  const shows = (words: string): Promise<unknown> =>
    page.waitForFunction(`document.body.innerText.includes(${JSON.stringify(words)})`);

  const inPage = (expression: string): Promise<unknown> => page.evaluate(expression);

  /** A request as the pages of Headlamp send it. */
  const request = (path: string, init = '{}'): Promise<Response> =>
    inPage(`fetch('/clusters/platform${path}', { credentials: 'include', ...${init} })
      .then(async (answer) => ({ status: answer.status, text: await answer.text() }))`) as Promise<Response>;

  const podPath = (): string => `/api/v1/namespaces/${gateway.pod.namespace}/pods/${gateway.pod.name}`;

  it('signs a user in', async () => {
    await page.goto(`${origin}/c/platform/nodes`);
    const [popup] = await Promise.all([
      new Promise<Page | null>((resolve) => page.once('popup', resolve)),
      page.locator('button ::-p-text(Sign In)').click(),
    ]);
    if (popup === null) throw new Error('there is no window for the sign-in');
    await popup.waitForSelector('#username');
    await popup.type('#username', USER);
    await popup.type('#password', PASSWORD);
    await popup.keyboard.press('Enter');
    await shows('node-00000');
    await until(() => popup.isClosed());
    expect(JSON.parse((await request('/me')).text)).to.include({ username: USER });
  });

  it('shows what the user may read, and nothing else', async () => {
    const { namespace, name } = gateway.pod;
    await page.goto(`${origin}/c/platform/pods?namespace=${namespace}`);
    await shows(name);
    expect((await request(`/api/v1/namespaces/${namespace}/pods`)).status).to.equal(200);
    expect((await request('/api/v1/pods')).status).to.equal(403);
    expect((await request('/api/v1/namespaces/kube-system/secrets')).status).to.equal(403);
  });

  it('shows a change at once', async () => {
    await page.goto(`${origin}/c/platform/namespaces`);
    await shows(gateway.pod.namespace);
    await platform.succeeding('create namespace created-later');
    await shows('created-later');
  });

  it('reads logs, and opens a shell', async () => {
    const { container } = gateway.pod;
    expect(await request(`${podPath()}/log?container=${container}&tailLines=1`)).to.have.property(
      'status',
      200,
    );
    const query = `container=${container}&command=sh&command=-c&command=echo+$((6*7))&stdin=0&stdout=1&stderr=1&tty=0`;
    const url = `${origin.replace('http', 'ws')}/clusters/platform${podPath()}/exec?${query}`;
    const output = await inPage(`new Promise((resolve, reject) => {
      const socket = new WebSocket(${JSON.stringify(url)}, ['v4.channel.k8s.io']);
      let output = '';
      socket.binaryType = 'arraybuffer';
      socket.onmessage = ({ data }) => { output += new TextDecoder().decode(data); };
      socket.onerror = () => reject(new Error('the WebSocket failed'));
      socket.onclose = () => resolve(output);
    })`);
    expect(output).to.contain('42');
  });

  it('keeps one session through parallel refreshes', async () => {
    const list = 'get sessions.iam.platform.io --field-selector=spec.clientID=headlamp';
    const refreshes = async (): Promise<number> => {
      const all = await platform.succeeding(list, '-o', 'jsonpath={.items[*].spec.generation}');
      return Math.max(...all.split(' ').map(Number));
    };
    const before = await refreshes();
    for (let round = 0; round < 3; round++) {
      const all = await Promise.all(Array.from({ length: 6 }, () => request('/api/v1/nodes')));
      expect(all.map(({ status }) => status)).to.deep.equal([200, 200, 200, 200, 200, 200]);
    }
    expect(await refreshes()).to.be.at.least(before + 3);
  });

  it('is signed out with the session', async () => {
    await platform.succeeding('delete sessions.iam.platform.io --all');
    await until(async () => (await request('/api/v1/nodes')).status === 401);
    await page.goto(`${origin}/c/platform/nodes`);
    await shows('Sign In');
  });

  it('has no power of its own', async () => {
    expect((await request('/set-token', `{ method: 'POST', body: '{"token":null}' }`)).status).to.equal(200);
    expect((await request('/api/v1/nodes')).status).to.be.oneOf([401, 403]);
  });
});
