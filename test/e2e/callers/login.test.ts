// Tests of `npm run login` as users see it: a browser, another device, kubectl with the credential plugin, and logout.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { expect } from 'chai';
import type { Page } from 'puppeteer-core';
import { array, record, recordIn, text } from '../../../apis/reading/unknown-value.ts';
import { type StartedChromium, startChromium } from '../../support/chromium.ts';
import { scratchFolder, script } from '../../support/scratch.ts';
import { submitForm } from '../../support/submit-form.ts';
import { until } from '../../support/until.ts';
import { NODES, type Output, PASSWORD, type Platform, RESOURCE } from '../platform.ts';
import { sharedPlatform } from './shared-platform.ts';

const USER = 'linda';
const MAIN = join(import.meta.dirname, '../../../login/main.ts');
const OTHER = `# my clusters
apiVersion: v1
kind: Config
clusters:
  - name: other # staging
    cluster: {server: https://staging.example.com}
users: []
contexts: []
current-context: other
`;

describe('npm run login', () => {
  let platform: Platform;
  let chromium: StartedChromium;
  let page: Page;
  let home: Awaited<ReturnType<typeof scratchFolder>>;
  let server: string;
  let ca: string;
  /** Name of the context, which is the host of the server. */
  let context: string;

  before(async () => {
    platform = await sharedPlatform();
    home = await scratchFolder();
    server = platform.server.url;
    context = new URL(server).host;
    ca = await platform.write('login-ca.crt', platform.controlPlane.ca);
    await platform.bind('platform-nodes-reader', `--user=${USER}`);
    await platform.addUser(USER, PASSWORD);
    // The browser of the desktop: writes the URL into a file.
    await script(
      join(home.path, 'desktop/xdg-open'),
      `printf %s "$1" > "$HOME/url.new" && mv "$HOME/url.new" "$HOME/url"`,
    );
    await script(join(home.path, 'broken-desktop/xdg-open'), 'exit 3');
    await mkdir(join(home.path, '.kube'));
    await writeFile(join(home.path, '.kube/config'), OTHER);
    chromium = await startChromium();
    page = await chromium.browser.newPage();
    page.setDefaultTimeout(60_000);
  });
  after(async () => {
    await chromium?.[Symbol.asyncDispose]();
    await home?.[Symbol.asyncDispose]();
  });

  const environment = (more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv => ({
    PATH: process.env['PATH'],
    HOME: home.path,
    ...more,
  });
  const desktop = (folder = 'desktop'): NodeJS.ProcessEnv =>
    environment({ PATH: `${join(home.path, folder)}:${process.env['PATH']}`, DISPLAY: ':0' });

  interface Running {
    readonly child: ChildProcess;
    /** Standard error so far. */
    readonly printed: () => string;
    readonly output: Promise<Output>;
  }

  function start(args: readonly string[], env = environment()): Running {
    const child = spawn(process.execPath, [MAIN, ...args], { env, signal: platform.signal });
    child.on('error', () => undefined);
    child.stdin.end();
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      stderr += chunk;
    });
    const output = Promise.all([once(child, 'close'), textOf(child.stdout)]).then(([[code], stdout]) => ({
      code: Number(code),
      stdout,
      stderr,
    }));
    return { child, printed: () => stderr, output };
  }

  async function signIn(): Promise<void> {
    await page.waitForSelector('#username');
    await submitForm(page, { username: USER, password: PASSWORD });
  }

  /** Signs in with the device code that the program prints. */
  async function connectDevice({ printed, output }: Running): Promise<Output> {
    await until(() => printed().includes('Waiting'));
    const [, code = ''] = /the code ([A-Z-]+):/.exec(printed()) ?? [];
    const [, url = ''] = /(https:\S+\/device)/.exec(printed()) ?? [];
    await page.goto(url);
    await submitForm(page, { user_code: code });
    await signIn();
    expect(await page.title()).to.equal('Device connected');
    return output;
  }

  /** kubectl of the user, without a terminal. */
  function kubectl(...args: string[]): Promise<Output> {
    return new Promise((resolve) => {
      execFile(platform.controlPlane.kubectl, args, { env: environment() }, (error, stdout, stderr) =>
        resolve({ code: error === null ? 0 : Number(error.code ?? -1), stdout, stderr }),
      );
    });
  }

  const listNodes = (): Promise<Output> => kubectl('get', RESOURCE, '-o', 'name');
  const state = (): string => join(home.path, '.local/state/ks-login');

  async function tokenFile(): Promise<string> {
    const files = await readdir(state());
    expect(files).to.have.length(1);
    return join(state(), files[0] ?? '');
  }

  /** Lets the stored access token expire. */
  async function expire(): Promise<{ readonly accessToken: string }> {
    const file = await tokenFile();
    const stored = JSON.parse(await readFile(file, 'utf8')) as { accessToken: string };
    await writeFile(file, JSON.stringify({ ...stored, refreshAt: 0 }));
    return stored;
  }

  /** The clients and generations of the user's sessions at clients. */
  async function sessions(): Promise<string[]> {
    const list = record(JSON.parse(await platform.succeeding('get sessions.iam.platform.io -o json')));
    return (
      array(list['items'])
        .map((item) => recordIn(item, 'spec'))
        // The sessions of device requests have no user yet, those of browsers no client, and the marks of used codes no tokens.
        .filter(({ user, clientID, familyHash }) => user === USER && clientID !== '-' && familyHash !== '')
        .map(({ clientID, generation }) => `${text(clientID)} ${Number(generation)}`)
    );
  }

  it('names the cure for an unknown CA, a wrong address and an unknown context', async () => {
    const unknownCA = await start([server]).output;
    expect(unknownCA.code).to.equal(1);
    expect(unknownCA.stderr).to.match(/signed by an unknown CA: pass the file of the CA with --ca FILE\n$/);
    const other = await start([platform.controlPlane.url, '--ca', ca]).output;
    expect(other.stderr).to.match(
      /is not a ks-apiserver with sign-in \(status 40[0-9]\): check the address\n$/,
    );
    const alias = await start([server.replace('127.0.0.1', 'localhost'), '--ca', ca]).output;
    expect(alias.stderr).to.contain(`sign in to ${server}\n`);
    expect((await start([]).output).stderr).to.contain('the current context was not created by this program');
  });

  it('signs in with a browser, and kubectl then lists nodes', async () => {
    const running = start([server, '--ca', ca], desktop());
    await until(() =>
      stat(join(home.path, 'url')).then(
        () => true,
        () => false,
      ),
    );
    await page.goto(await readFile(join(home.path, 'url'), 'utf8'));
    await signIn();
    expect(await page.content()).to.contain('You can close this window');
    const { code, stderr } = await running.output;
    expect(code, stderr).to.equal(0);
    expect(stderr).to.contain(`Signed in as ${USER}.`);
    const { accessToken } = JSON.parse(await readFile(await tokenFile(), 'utf8')) as { accessToken: string };
    await platform.accepted(accessToken);
    const nodes = await listNodes();
    expect(nodes.stdout.trim().split('\n'), nodes.stderr).to.have.length(NODES);
    expect(await sessions()).to.deep.equal(['kubectl 0']);
  });

  it('lets kubectl use the API of kube-apiserver as the user', async () => {
    const { stdout } = await kubectl('auth', 'whoami', '-o', 'jsonpath={.status.userInfo.username}');
    expect(stdout).to.equal(USER);
  });

  it('does not wait without a terminal when the session has ended', async () => {
    await platform.succeeding('delete sessions.iam.platform.io --all');
    await expire();
    const { code, stderr } = await listNodes();
    expect(code).not.to.equal(0);
    expect(stderr).to.contain(`you are not signed in to ${server}; sign in with: npm --prefix`);
    expect(await readdir(state())).to.deep.equal([]);
  });

  it('signs in again on another device, with the CA of the context', async () => {
    const { code, stderr } = await connectDevice(start(['--device'], desktop()));
    expect(code, stderr).to.equal(0);
    expect((await listNodes()).code).to.equal(0);
  });

  it('treats a corrupted file like a missing sign-in, and signs in if kubectl has a terminal', async () => {
    await writeFile(await tokenFile(), '{"accessToken": "ey');
    expect((await listNodes()).stderr).to.contain('you are not signed in');
    await platform.succeeding('delete sessions.iam.platform.io --all');
    const info = {
      apiVersion: 'client.authentication.k8s.io/v1',
      kind: 'ExecCredential',
      spec: {
        interactive: true,
        cluster: {
          server,
          'certificate-authority-data': Buffer.from(platform.controlPlane.ca).toString('base64'),
        },
      },
    };
    const env = environment({ KUBERNETES_EXEC_INFO: JSON.stringify(info) });
    const args = ['get-token', server, '--context', context, '--client-id', 'kubectl'];
    const { code, stdout, stderr } = await connectDevice(start(args, env));
    expect(code, stderr).to.equal(0);
    expect(JSON.parse(stdout)).to.have.nested.property('status.token').that.matches(/^eyJ/);
    expect((await listNodes()).code).to.equal(0);
  });

  it('uses the device flow when the browser cannot be opened', async () => {
    const { child, printed, output } = start([server, '--ca', ca], desktop('broken-desktop'));
    await until(() => printed().includes('Waiting'));
    child.kill();
    expect((await output).stderr)
      .to.contain('xdg-open cannot open a browser')
      .and.to.match(/enter the code [A-Z]/);
  });

  it('revokes the session at logout, and deletes the tokens', async () => {
    const { accessToken } = await expire();
    const { code, stderr } = await start(['logout']).output;
    expect(code, stderr).to.equal(0);
    expect(stderr).to.equal(`Signed out of ${server}.\n`);
    expect(await readdir(state())).to.deep.equal([]);
    expect(await sessions()).to.deep.equal([]);
    const bare = ['--kubeconfig', '/dev/null', '--server', server, '--certificate-authority', ca];
    const { stderr: refused } = await kubectl(...bare, '--token', accessToken, 'get', RESOURCE);
    expect(refused).to.match(/Unauthorized|must be logged in/);
    expect((await start(['logout']).output).stderr).to.equal(`You are not signed in to ${server}.\n`);
  });
});
