// Tests docs/getting-started.md with the commands of its text: from a cluster without the server to people of an LDAP directory in
// kubectl and Headlamp. The platform has another name, so the installation of the other tests stays.
import { cp, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Page } from 'puppeteer-core';
import { KUBELOGIN } from '../../apis/oauth/kubelogin-kubeconfig.ts';
import { provideGoProgram } from '../../hack/artifacts/go-programs.ts';
import { startChromium } from '../../hack/browser/chromium.ts';
import type { Cluster } from '../../hack/cluster/cluster.ts';
import { BUSYBOX_IMAGE } from '../../hack/cluster/stand-in.ts';
import { HEADLAMP_IMAGE } from '../../hack/generate/headlamp.ts';
import { missingForHeadlamp } from '../../hack/identity/headlamp.ts';
import { freePort } from '../../hack/system/ports.ts';
import { PEOPLE, READER, requireDirectory, TestDirectory } from '../support/directory/directory.ts';
import { script } from '../support/scratch.ts';
import { submitForm } from '../support/submit-form.ts';
import { until } from '../support/until.ts';
import { ChartRegistry } from './chart-registry.ts';
import { blocksOf, blockWith } from './document.ts';
import { InstallationFolder } from './installation-folder.ts';
import { sharedCluster } from './shared-cluster.ts';

const PAGE = 'docs/getting-started.md';
const PLATFORM = 'people';
const PERSON = 'grace';
const TIMER = '      from nothing';
const PUBLISHED_CHART = 'headlamp --repo https://kubernetes-sigs.github.io/headlamp/';
/** Paths, user and program of the published image. */
const CONTAINERFILE = `FROM ${BUSYBOX_IMAGE} AS dependencies
COPY --chown=100:101 . /headlamp
RUN chmod 1777 /tmp
ENV HOME=/tmp
USER 100:101
ENTRYPOINT ["/headlamp/headlamp-server", "-html-static-dir", "/headlamp/frontend", "-plugins-dir", "/headlamp/plugins"]
`;

const WITHOUT_HEADLAMP = await missingForHeadlamp(process.env, ['chart']);

describe('a newcomer', function () {
  this.timeout(300_000);
  const stack = new AsyncDisposableStack();
  let cluster: Cluster;
  let folder: InstallationFolder;
  let registry: ChartRegistry;
  let directory: TestDirectory;
  let page: Page;
  let port: number;
  let commands = 0;

  before(async function () {
    await requireDirectory(this);
    cluster = sharedCluster();
    folder = stack.use(await InstallationFolder.create(cluster));
    registry = stack.use(await ChartRegistry.start(folder));
    await registry.publish();
    directory = stack.use(await TestDirectory.start(cluster.addresses.host));
    await directory.person(PERSON);
    await directory.group('developers', [`cn=${PERSON},${PEOPLE}`]);
    await writeFile(join(folder.path, 'directory-ca.crt'), directory.ca);
    await writeFile(join(folder.path, 'password.txt'), `${READER.password}\n`);
    const signal = AbortSignal.timeout(240_000);
    const kubelogin = await provideGoProgram('kubelogin', {
      env: process.env,
      signal,
      progress: () => undefined,
    });
    await symlink(kubelogin, join(folder.path, 'bin', KUBELOGIN));
    await script(join(folder.path, 'bin/xdg-open'), `printf '%s\\n' "$1" > '${folder.path}/visited'`);
    const { browser } = stack.use(await startChromium());
    page = await browser.newPage();
    page.setDefaultTimeout(60_000);
    port = await freePort();
  });
  after(() => stack.disposeAsync());

  /** The text of the page with the addresses of this test. */
  function here(text: string): string {
    return registry
      .here(text)
      .replaceAll('192.0.2.10', cluster.addresses.node)
      .replaceAll('ldap.example.com', `${directory.address}:${directory.ldapsPort}`)
      .replaceAll('platform.io', `${PLATFORM}.io`)
      .replaceAll('platform-system', `${PLATFORM}-system`)
      .replaceAll('8080', String(port));
  }

  /** Runs commands in the home of the newcomer. */
  async function run(text: string): Promise<string> {
    commands += text.trim().split('\n').length;
    const home = `cd '${folder.path}' && export HOME='${folder.path}'`;
    return folder.run(`${home}\n${here(text)}`, { inClone: true });
  }

  const report = (what: string): void => console.timeLog(TIMER, `and ${commands} commands to ${what}`);

  it('installs the server', async () => {
    const [values = '', install = ''] = await blocksOf(PAGE, 'Install the server');
    await folder.write('values.yaml', `platform: ${PLATFORM}\n${here(values)}`);
    console.time(TIMER);
    expect(await run(install)).to.contain('developers-view created');
  });

  it('uses kubectl as a person of the directory', async () => {
    const [signIn = '', state = ''] = await blocksOf(PAGE, 'Sign in with kubectl');
    const pods = run(signIn);
    const visited = join(folder.path, 'visited');
    await until(async () => (await cluster.run(['cat', visited]).catch(() => '')) !== '');
    await page.goto((await cluster.run(['cat', visited])).trim());
    await submitForm(page, { username: PERSON, password: `${PERSON}-password` });
    expect(await pods).to.match(new RegExp(`^${PLATFORM}-system +ks-apiserver-`, 'm'));
    report('kubectl get pods');
    expect(await folder.run(here(state), { inClone: true })).to.match(/identity-providers ok/);
  });

  // Not skipped: that fails on build machines, and no package registry has this program.
  if (WITHOUT_HEADLAMP) console.log(`without Headlamp: ${WITHOUT_HEADLAMP}`);
  else it('sees a page of Headlamp', seesHeadlamp);

  async function seesHeadlamp(): Promise<void> {
    const chart = await provideHeadlamp();
    const [install = ''] = await blocksOf(PAGE, 'Open Headlamp');
    const values = await blockWith('docs/relying-parties.md', "Values of Headlamp's chart", 'oidc');
    const changed = values
      .replace('https://platform.example.com', `https://${cluster.addresses.node}:30443`)
      .replace('https://headlamp.example.com', `http://127.0.0.1:${port}`)
      .replace('platform.example.com', cluster.addresses.node)
      .replace('"443"', '"30443"')
      .replaceAll(/\bplatform\b/g, PLATFORM);
    await folder.write('headlamp.yaml', changed);
    const [forward = '', ...others] = install.trim().split('\n').toReversed();
    await run(others.toReversed().join('\n').replace(PUBLISHED_CHART, chart));
    const stop = new AbortController();
    stack.defer(() => stop.abort());
    const { signal } = stop;
    commands++;
    const forwarding = cluster
      .run(['bash', '-c', `exec ${here(forward)}`], { signal })
      .catch(() => undefined);
    stack.defer(async () => {
      stop.abort();
      await forwarding;
    });
    const origin = `http://127.0.0.1:${port}`;
    await until(() =>
      fetch(origin).then(
        ({ ok }) => ok,
        () => false,
      ),
    );
    await page.goto(`${origin}/c/${PLATFORM}/pods`);
    const [popup] = await Promise.all([
      new Promise<Page | null>((resolve) => page.once('popup', resolve)),
      page.locator('button ::-p-text(Sign In)').click(),
    ]);
    await popup?.waitForSelector('button[name=account]');
    await popup?.click('button[name=account]');
    await page.waitForFunction(`document.body.innerText.includes('ks-apiserver-')`);
    report('a page of Headlamp');
  }

  /** Gives the image to the cluster. Returns the path of the chart. */
  async function provideHeadlamp(): Promise<string> {
    const context = join(folder.path, 'headlamp-image');
    await mkdir(join(context, 'plugins'), { recursive: true });
    const source = process.env['HEADLAMP'] ?? '';
    for (const name of ['headlamp-server', 'frontend']) {
      await cp(join(source, name), join(context, name), { recursive: true, dereference: true });
    }
    const file = join(folder.path, 'Containerfile');
    await writeFile(file, CONTAINERFILE);
    const build = `docker build --file '${file}' --tag ${HEADLAMP_IMAGE} '${context}'`;
    await folder.run(`${build}\ndocker push ${HEADLAMP_IMAGE}`, { inClone: true });
    return join(source, 'chart');
  }
});
