// Tests of kubelogin with the kubeconfig of the account page and the built-in client: kubectl and client libraries through
// the gateway.
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { Page } from 'puppeteer-core';
import { provideGoProgram } from '../../../hack/artifacts/go-programs.ts';
import { type StartedChromium, startChromium } from '../../../hack/browser/chromium.ts';
import { PYTHON_CLIENTS } from '../../../hack/clients/build.ts';
import { SESSION_ENDED } from '../../../server/oauth/tokens/revocation-check.ts';
import { javaClients } from '../../support/java.ts';
import { pythonWith } from '../../support/python.ts';
import { submitForm } from '../../support/submit-form.ts';
import { until } from '../../support/until.ts';
import { type Output, PASSWORD, type Platform } from '../platform.ts';
import { sharedPlatform } from '../shared-platform.ts';
import { type KubeloginProgram, KubeloginUser } from './kubelogin-user.ts';

const USER = 'kim';
const ROOT = join(import.meta.dirname, '../../..');

describe('kubelogin', () => {
  let platform: Platform;
  let chromium: StartedChromium;
  let page: Page;
  let program: KubeloginProgram;
  let downloaded: string;

  before(async function () {
    const signal = AbortSignal.timeout(240_000);
    let kubelogin: string;
    try {
      kubelogin = await provideGoProgram('kubelogin', {
        env: process.env,
        signal,
        progress: () => undefined,
      });
    } catch (error) {
      if (process.env['CI'] === 'true') throw error;
      console.log('      kubelogin cannot be built here: left out');
      this.skip();
    }
    platform = await sharedPlatform();
    program = { kubelogin, platform };
    await platform.bind('view', `--user=${USER}`);
    await platform.addUser(USER, PASSWORD, { groups: ['developers'] });
    await platform.accepted(await platform.signIn(USER));
    chromium = await startChromium();
    page = await chromium.browser.newPage();
    page.setDefaultTimeout(60_000);
    downloaded = await download();
  });
  after(async () => {
    await chromium?.[Symbol.asyncDispose]();
  });

  /** Signs in to the account page, and downloads the kubeconfig. */
  async function download(): Promise<string> {
    const folder = `${await platform.write('kubelogin-downloads', '')}.d`;
    const tools = await page.createCDPSession();
    await tools.send('Page.setDownloadBehavior', { behavior: 'allow', downloadPath: folder });
    await page.goto(`${platform.server.url}/account`);
    await submitForm(page, { username: USER, password: PASSWORD });
    await page.click('a[download]');
    const read = () => readFile(join(folder, 'kubeconfig.yaml'), 'utf8').catch(() => '');
    await until(async () => (await read()) !== '');
    return read();
  }

  /** Continues in the browser as the user who has signed in to the account page. */
  async function confirm(url: string): Promise<void> {
    await page.goto(url);
    expect(await page.title()).to.equal('Continue with your account');
    await Promise.all([page.waitForNavigation(), page.click('button[name=account]')]);
  }

  const whoami = ['auth', 'whoami', '-o', 'jsonpath={.status.userInfo.username} {.status.userInfo.groups}'];
  const expectUser = ({ code, stdout, stderr }: Output): void => {
    expect(stdout, stderr).to.equal(`${USER} ["developers","system:authenticated"]`);
    expect(code).to.equal(0);
  };

  /** A machine on which the user has signed in with the browser. */
  async function signedIn(name: string): Promise<KubeloginUser> {
    const user = await KubeloginUser.at(program, name, downloaded);
    const first = user.kubectl(...whoami);
    await confirm(await user.sentTo(first));
    expectUser(await first);
    return user;
  }

  /** Generations of the sessions of kubectl: the number of their refreshes. */
  async function generations(): Promise<number[]> {
    const list = JSON.parse(await platform.succeeding('get sessions.iam.platform.io -o json')) as {
      items: { spec: { user: string; clientID: string; generation?: number; familyHash?: string } }[];
    };
    return (
      list.items
        // A session without a family marks a used code.
        .filter(({ spec }) => spec.user === USER && spec.clientID === 'kubectl' && spec.familyHash)
        .map(({ spec }) => spec.generation ?? 0)
    );
  }

  beforeEach(() =>
    platform.succeeding('delete sessions.iam.platform.io --field-selector=spec.clientID=kubectl'),
  );

  it('signs in with the browser, without another password, and then needs no browser', async () => {
    const user = await signedIn('browser');
    expectUser(await user.kubectl(...whoami));
    expect(await user.visited()).to.have.length(1);
    expect(await generations()).to.deep.equal([0]);
  });

  it('leaves standard input to kubectl', async () => {
    const user = await signedIn('input');
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'piped', namespace: 'default' } };
    const args = ['create', '--dry-run=client', '-o', 'name', '-f', '-'];
    const { stdout, stderr } = await user.run(platform.controlPlane.kubectl, args, JSON.stringify(object));
    expect(stdout, stderr).to.equal('configmap/piped\n');
  });

  it('of several kubectl without a session, one signs in, and all succeed', async () => {
    const user = await KubeloginUser.at(program, 'first', downloaded);
    const running = [1, 2, 3].map(() => user.kubectl(...whoami));
    await confirm(await user.sentTo(Promise.race(running)));
    for (const output of await Promise.all(running)) expectUser(output);
    expect(await user.visited()).to.have.length(1);
    expect(await generations()).to.deep.equal([0]);
  });

  it('of several kubectl with an expired token, one refreshes, and none signs out', async () => {
    const user = await signedIn('parallel');
    for (const round of [1, 2, 3]) {
      await user.expire();
      const running = [1, 2, 3, 4, 5, 6].map(() => user.kubectl(...whoami));
      for (const output of await Promise.all(running)) expectUser(output);
      expect(await generations()).to.deep.equal([round]);
    }
    expect(await user.visited()).to.have.length(1);
  });

  it('asks for a sign-in after the session was ended on the account page', async () => {
    const user = await signedIn('ended');
    await page.goto(`${platform.server.url}/account`);
    const button = await page.waitForSelector('button[aria-label^="Sign out: kubectl"]');
    await Promise.all([page.waitForNavigation(), button?.click()]);
    expect(await generations()).to.deep.equal([]);
    // kubelogin cannot know that its token was revoked before the token expires.
    const revoked = await user.kubectl(...whoami);
    expect(revoked.code).to.equal(1);
    expect(revoked.stderr).to.equal(`error: You must be logged in to the server (${SESSION_ENDED})\n`);
    await user.run(program.kubelogin, ['clean']);
    const again = user.kubectl(...whoami);
    await confirm(await user.sentTo(again));
    expectUser(await again);
  });

  it('signs in with a code on another device, with the kubeconfig of the command', async () => {
    // Without certificate files in the configuration, the CA is that of the APIService.
    const { stdout } = await promisify(execFile)(process.execPath, [
      ...[join(ROOT, 'server/main.ts'), 'kubeconfig', '--device-code'],
      ...['--issuer', `${platform.server.url}/oauth`, '--kubeconfig', platform.controlPlane.kubeconfig],
    ]);
    const user = await KubeloginUser.at(program, 'device', stdout);
    const first = user.start(platform.controlPlane.kubectl, whoami);
    const visit = /Please visit the following URL in your browser: (\S+)/;
    await until(() => visit.test(first.printed()));
    await confirm(visit.exec(first.printed())?.[1] ?? '');
    expect(await page.title()).to.equal('Device connected');
    expectUser(await first.output);
    expect(await user.visited()).to.deep.equal([]);
  });

  it('is missing: kubectl says how to install it', async () => {
    const user = await KubeloginUser.at(program, 'missing', downloaded);
    await user.removeKubelogin();
    const { code, stderr } = await user.kubectl('get', 'pods');
    expect(code).to.equal(1);
    expect(stderr).to.contain('executable kubectl-oidc_login not found');
    expect(stderr).to.contain('kubectl krew install oidc-login');
  });

  it('serves JavaScript', async () => {
    const user = await signedIn('javascript');
    const lines = [
      `import { CoreV1Api, KubeConfig } from '${import.meta.resolve('@kubernetes/client-node')}';`,
      'const config = new KubeConfig();',
      'config.loadFromDefault();',
      'const { items } = await config.makeApiClient(CoreV1Api).listNamespace();',
      'console.log(items.some(({ metadata }) => metadata.name === "default"));',
    ];
    const file = await platform.write('client.mjs', lines.join('\n'));
    const { stdout, stderr } = await user.run(process.execPath, [file]);
    expect(stdout, stderr).to.equal('true\n');
  });

  it('serves Python', async function () {
    const python = await pythonWith(PYTHON_CLIENTS, platform.signal);
    if (python === undefined) this.skip();
    const user = await signedIn('python');
    const lines = [
      'from kubernetes import client, config',
      'config.load_kube_config()',
      'print("default" in [item.metadata.name for item in client.CoreV1Api().list_namespace().items])',
    ];
    const { stdout, stderr } = await user.run(python, ['-c', lines.join('\n')]);
    expect(stdout, stderr).to.equal('True\n');
  });

  it('serves Java', async function () {
    const [java, ...options] = (await javaClients(platform.signal)) ?? this.skip();
    const user = await signedIn('java');
    const { stdout, stderr } = await user.run(java, [...options, 'Namespaces']);
    expect(stdout.split('\n'), stderr).to.include('default');
  });
});
