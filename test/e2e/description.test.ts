// Tests of the OpenAPI documents and the API page against a running server. Every response must match the OpenAPI
// documents.
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import type { Page } from 'puppeteer-core';
import { platformDescription } from '../../apis/description/platform-apis.ts';
import { type StartedChromium, startChromium } from '../../hack/browser/chromium.ts';
import { runSchemathesis, SCHEMATHESIS } from '../../hack/schemathesis/run.ts';
import { lowContrasts } from '../support/contrast.ts';
import { observeComplaints } from '../support/page-complaints.ts';
import { pythonWith } from '../support/python.ts';
import { until } from '../support/until.ts';
import { PASSWORD, Platform } from './platform.ts';

const LIST = '#operations-resources-listResources';

describe('the OpenAPI documents', function () {
  this.timeout(300_000);
  let platform: Platform;

  before(async () => {
    platform = await Platform.start(3, { configure: clients });
    await platform.succeeding('create serviceaccount tester');
    await platform.bind('cluster-admin', '--serviceaccount=default:tester');
    await platform.bind('platform-nodes-reader', '--user=alice');
    await platform.permitted('* * --as=system:serviceaccount:default:tester');
    await platform.permitted('list nodes.resources.platform.io --as=alice');
    await platform.addUser('alice', PASSWORD);
  });
  after(() => platform?.stop());

  /** The client of the specification, with an additional grant. */
  async function clients({ dir }: { dir: string }): Promise<{ oauth: object }> {
    const secret = join(dir, 'client-secret');
    await writeFile(secret, 'platform');
    const grants = ['password', 'authorization_code', 'refresh_token'];
    const device = 'urn:ietf:params:oauth:grant-type:device_code';
    return {
      oauth: {
        clients: [{ id: 'platform', secretFiles: [secret], grants: [...grants, device] }],
      },
    };
  }

  describe('in a browser', () => {
    let chromium: StartedChromium;
    let page: Page;
    /** Errors of the browser, violations of the Content-Security-Policy included, and the requested URLs. */
    const complaints: string[] = [];
    const hosts = new Set<string>();

    before(async () => {
      // Schemathesis deletes users that it finds.
      await platform.addUser('alice', PASSWORD);
      await platform.signIn('alice');
      chromium = await startChromium();
      page = await chromium.browser.newPage();
      page.setDefaultTimeout(60_000);
      await page.setViewport({ width: 1200, height: 1400 });
      await observeComplaints(page, ({ text }) => complaints.push(text));
      page.on('console', (message) => complaints.push(message.text()));
      page.on('pageerror', (error) => complaints.push(String(error)));
      page.on('request', (request) => {
        const { protocol, origin } = new URL(request.url());
        if (protocol !== 'data:') hosts.add(origin);
      });
    });
    after(() => chromium?.[Symbol.asyncDispose]());

    /** Clicks when the element has stopped moving, because elements above it may still collapse. */
    const click = (selector: string): Promise<void> => page.locator(selector).click();

    it('are shown, in both versions', async () => {
      await page.goto(`${platform.server.url}/openapi/page?of=custom-resources`);
      await page.waitForSelector('#operations-sessions-listSession');
      await page.goto(`${platform.server.url}/openapi/page`);
      await page.waitForSelector(LIST);
    });

    const prefer = (value: string): Promise<void> =>
      page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value }]);

    it('follow the color scheme of the browser', async () => {
      const color = "getComputedStyle(document.querySelector('.swagger-ui .title')).color";
      /** Brightness of the title, from 0 to 255. */
      const ink = async (): Promise<number> => {
        const [red = 0, green = 0, blue = 0] = String(await page.evaluate(color)).match(/\d+/g) ?? [];
        return Math.max(Number(red), Number(green), Number(blue));
      };
      await prefer('dark');
      await until(async () => (await ink()) > 192);
      await prefer('light');
      await until(async () => (await ink()) < 128);
    });

    it('hide HEAD operations', async () => {
      const operations = await page.$$eval('.opblock', (found) => found.map(({ className }) => className));
      expect(operations).to.not.have.length(0);
      expect(operations.filter((name) => name.includes('opblock-head'))).to.deep.equal([]);
    });

    it('open the Authorize dialog at the sign-in page, which has the focus, with other schemes collapsed', async () => {
      await click('.btn.authorize');
      await page.waitForSelector('.sign-in-page .btn.authorize:focus');
      expect(await page.$eval('.modal-ux-content', ({ scrollTop }) => scrollTop)).to.equal(0);
      expect(await page.$$('details.other-scheme')).to.have.length(3);
      expect(await page.$$('details.other-scheme[open]')).to.have.length(0);
      expect(await page.$eval('#auth-bearer-value', (field) => field.getAttribute('type'))).to.equal(
        'password',
      );
      await click('.modal-ux .close-modal');
    });

    for (const scheme of ['dark', 'light']) {
      it(`have a contrast of at least 4.5:1 in the ${scheme} scheme`, async () => {
        await prefer(scheme);
        await until(async () => (await lowContrasts(page)).length === 0);
        await click(`${LIST} .opblock-summary-control`);
        await page.waitForSelector(`${LIST} .parameters`);
        await click('.btn.authorize');
        await page.waitForSelector('.sign-in-page');
        await page.$$eval('details.other-scheme', (all) => {
          for (const one of all) one.setAttribute('open', '');
        });
        expect(await lowContrasts(page)).to.deep.equal([]);
        await click('.modal-ux .close-modal');
        await click(`${LIST} .opblock-summary-control`);
      });
    }

    /** The status and the beginning of the response. */
    async function listNodes(): Promise<string> {
      await click('.modal-ux .close-modal');
      await click(`${LIST} .opblock-summary-control`);
      await click(`${LIST} .try-out__btn`);
      await page.locator(`${LIST} tr[data-param-name="resource"] input`).fill('nodes');
      await click(`${LIST} .execute`);
      const answer = await page.waitForSelector(`${LIST} .live-responses-table .response`);
      return (await answer?.evaluate((row) => row.textContent)) ?? '';
    }

    it('allow a sign-in with a password, and list nodes', async () => {
      await click('.btn.authorize');
      await click('details.other-scheme:has(#oauth_username) summary');
      await page.waitForSelector('#oauth_username', { visible: true });
      await page.type('#oauth_username', 'alice');
      await page.type('#oauth_password', PASSWORD);
      await page.type('#client_id_password', 'platform');
      await page.type('#client_secret_password', 'platform');
      await click('.auth-container:has(#oauth_username) .btn.authorize');
      // The dialog replaces the fields after the sign-in.
      await page.waitForSelector('#oauth_username', { hidden: true });
      expect(await listNodes())
        .to.match(/^200/)
        .and.include('"kind": "NodeList"')
        .and.include('node-00002');
    });

    it('allow a sign-in on the sign-in page, with a code and PKCE', async () => {
      await page.goto(`${platform.server.url}/openapi/page`);
      await click('.btn.authorize');
      await page.waitForSelector('#client_id_authorizationCode');
      const opened = new Promise<Page | null>((resolve) => void page.once('popup', resolve));
      await click('.auth-container:has(#client_id_authorizationCode) .btn.authorize');
      const popup = await opened;
      await popup?.waitForSelector('#username');
      await popup?.type('#username', 'alice');
      await popup?.type('#password', PASSWORD);
      await popup?.keyboard.press('Enter');
      await page.waitForSelector('#client_id_authorizationCode', { hidden: true });
      expect(await listNodes())
        .to.match(/^200/)
        .and.include('node-00002');
    });

    it('load nothing from other origins and cause no browser errors', () => {
      expect([...hosts]).to.deep.equal([platform.server.url]);
      expect(complaints).to.deep.equal([]);
    });
  });

  it('match all responses that schemathesis gets, without a 5xx', async function () {
    this.timeout(330_000);
    const { signal } = platform;
    const python = await pythonWith(SCHEMATHESIS, signal);
    if (python === undefined) this.skip();
    const token = (await platform.succeeding('create token tester')).trim();
    const basic = Buffer.from('platform:platform').toString('base64');
    const configuration = await platform.write(
      'schemathesis.toml',
      [
        // The default of ten seconds is too short on a busy machine.
        'request-timeout = 60',
        // A ServiceAccount token, because the tester revokes sessions.
        'headers = { Authorization = "Bearer ${TOKEN}" }',
        '[[operations]]',
        'include-path-regex = "^/oauth/(token|par|revoke|introspect|device_authorization)$"',
        'headers = { Authorization = "Basic ${CLIENT}" }',
        // A live tail does not end.
        '[[operations]]',
        'include-path-regex = "/logs$"',
        'parameters = { follow = "false" }',
        // These operations have the parameters of GET, of the list of a namespace and of the log query of a manager.
        '[[operations]]',
        'include-method = "HEAD"',
        'phases.coverage.enabled = false',
        '[[operations]]',
        `include-path-regex = '^/kapis/(tenant|resources[^/]*/v1alpha3/\\{resource\\}$)'`,
        'phases.coverage.enabled = false',
        '',
      ].join('\n'),
    );
    const dir = join(dirname(configuration), 'schemathesis');
    await mkdir(dir);
    const report = await runSchemathesis({
      python,
      dir,
      url: `${platform.server.url}/openapi/platform.json`,
      ca: await platform.write('schemathesis-ca.crt', platform.controlPlane.ca),
      configuration,
      env: { ...process.env, TOKEN: token, CLIENT: basic },
      examples: 10,
      signal: AbortSignal.any([signal, AbortSignal.timeout(300_000)]),
    });
    const { operations, test_cases: cases, output } = report;
    console.log(
      `      schemathesis: ${operations.tested} operations, ${cases.generated} cases, ${cases.unique_failures} failures`,
    );
    const { paths } = platformDescription({ platform: 'platform', version: '', oauth: true, logs: true });
    const described = Object.values(paths).flatMap((item) => Object.keys(item));
    expect(operations).to.include({ total: described.length, tested: described.length });
    expect(cases.generated).to.be.above(500);
    expect(cases.unique_failures, output).to.equal(0);
  });
});
