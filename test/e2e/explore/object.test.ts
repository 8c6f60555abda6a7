// Tests of the view of one object of `/explore` in a browser.
import { expect } from 'chai';
import { stringify } from 'yaml';
import { nodeName } from '../../../hack/simulation/realistic-node.ts';
import { until } from '../../support/until.ts';
import { sharedExplore, USERS } from './shared-explore.ts';
import type { Visitor } from './visitor.ts';

const SPACE = 'explore-object';
const ATTACK = '<img src=x onerror="window.pwned=1">';
/** More digits than a number of JavaScript has. */
const LARGE = '9007199254740993';
const COMMA = 'read,write=all';
const RIGHT_TO_LEFT = 'read-\u202eetirw';
const LISTER = 'lister';
const GETTER = 'getter';

const metadata = (name: string, more: object = {}): object => ({ name, namespace: SPACE, ...more });

const OBJECTS: readonly object[] = [
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: SPACE } },
  {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: metadata('settings', {
      labels: { app: 'web' },
      annotations: { note: ATTACK, 'long-note': 'x'.repeat(5_000) },
    }),
    data: { key: ATTACK, managedFields: 'a value\n  managedFields:\n- of two lines\n', number: LARGE },
  },
  {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: metadata('password'),
    stringData: { value: 'correct horse', ['long'.repeat(40)]: 'battery staple' },
  },
  {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: metadata('web'),
    spec: {
      replicas: 2,
      selector: { matchLabels: { app: 'web' } },
      template: {
        metadata: { labels: { app: 'web' } },
        spec: { nodeName: nodeName(1), containers: [{ name: 'web', image: 'registry.example.com/web:1' }] },
      },
    },
  },
  ...[COMMA, RIGHT_TO_LEFT].map((name) => ({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'Role',
    metadata: metadata(name),
    rules: [],
  })),
  ...[
    [LISTER, ['list', 'watch']],
    [GETTER, ['get']],
  ].flatMap(([user, verbs]) => [
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'Role',
      metadata: metadata(String(user)),
      rules: [{ apiGroups: [''], resources: ['configmaps'], verbs }],
    },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata: metadata(String(user)),
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: user },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
    },
  ]),
];

describe('an object of /explore', () => {
  let shared: Awaited<ReturnType<typeof sharedExplore>>;
  let visitor: Visitor;

  const kubectl = (line: string): Promise<string> => shared.platform.succeeding(`${line} -n ${SPACE}`);
  const apply = async (...objects: object[]): Promise<void> => {
    const file = await shared.platform.write(
      'object.yaml',
      objects.map((object) => stringify(object)).join('---\n'),
    );
    await shared.platform.succeeding('apply -f', file);
  };
  const shown = (by = visitor): Promise<string> =>
    by.page.$eval('pre.yaml', ({ textContent }) => textContent ?? '');
  const pathOf = (resource: string, name: string, part = ''): string =>
    `/explore/objects/${resource}/${SPACE}/${name}${part === '' ? '' : `?part=${part}`}`;

  before(async () => {
    shared = await sharedExplore();
    await apply(...OBJECTS);
    for (const user of [LISTER, GETTER]) {
      await shared.platform.addUser(user);
      await shared.platform.accepted(await shared.platform.signIn(user));
    }
    visitor = await shared.visitor();
    await visitor.signIn(USERS.admin);
    visitor.complaints.splice(0);
  });
  after(() => visitor?.[Symbol.asyncDispose]());
  afterEach(async () => {
    expect(await visitor.page.evaluate('window.pwned')).to.equal(undefined);
    expect(visitor.complaints.splice(0)).to.deep.equal([]);
  });

  /** Signs another user in, in a browser of its own, until the end of the test. */
  async function as(user: string, path: string, test: (other: Visitor) => Promise<void>): Promise<void> {
    await using other = await shared.visitor();
    await other.signIn(user, path);
    await test(other);
  }

  it('has the YAML of kube-apiserver, with all digits, and managed fields on request', async () => {
    await visitor.open(pathOf('configmaps', 'settings', 'yaml'));
    await until(async () => (await visitor.page.$('pre.yaml')) !== null);
    const { client } = shared.platform.controlPlane;
    const { body } = await client.expect(
      `/api/v1/namespaces/${SPACE}/configmaps/settings`,
      { accept: 'application/yaml' },
      [200],
    );
    expect(body)
      .to.match(/^ {2}managedFields:$/m)
      .and.include(LARGE);
    const [before = '', after = ''] = body.split(/^ {2}managedFields:\n(?: {2}[- ].*\n)+/m);
    expect(await shown()).to.equal(before + after);
    await visitor.click('Managed fields');
    expect(await shown()).to.equal(body);
    expect(await visitor.accessibilityProblems()).to.deep.equal([]);
  });

  it('is copied without line numbers', async () => {
    await visitor.open(pathOf('configmaps', 'settings', 'yaml'));
    await until(async () => (await visitor.page.$('pre.yaml')) !== null);
    await visitor.page.evaluate("getSelection().selectAllChildren(document.querySelector('pre.yaml'))");
    expect(await visitor.page.evaluate('String(getSelection())')).to.match(/^apiVersion: v1\ndata:\n/);
    await visitor.page
      .browserContext()
      .overridePermissions(new URL(visitor.page.url()).origin, [
        'clipboard-read',
        'clipboard-sanitized-write',
      ]);
    await visitor.click('Copy');
    await visitor.sees('Copied');
    expect(await visitor.page.evaluate('navigator.clipboard.readText()')).to.equal(await shown());
  });

  it('shows what it says about itself, whatever that is, and its events live', async () => {
    await visitor.open(pathOf('configmaps', 'settings'));
    await visitor.sees(ATTACK);
    await visitor.sees('app=web');
    expect(await visitor.page.$$('main img, main script')).to.deep.equal([]);
    expect(await visitor.accessibilityProblems()).to.deep.equal([]);
    const involvedObject = { kind: 'ConfigMap', namespace: SPACE, name: 'settings' };
    const event = {
      type: 'Warning',
      reason: 'Tested',
      message: ATTACK,
      lastTimestamp: new Date().toISOString(),
    };
    await apply({
      apiVersion: 'v1',
      kind: 'Event',
      metadata: metadata('settings.1'),
      involvedObject,
      ...event,
    });
    await visitor.sees('Tested');
  });

  it('leads to what it owns, to its owner and to its node', async () => {
    await visitor.open(pathOf('deployments.apps', 'web'));
    await visitor.sees('ReplicaSets');
    await visitor.sees('MinimumReplicas');
    const link = (resource: string): string => `.summary a[href*="/objects/${resource}/"]`;
    await until(async () => (await visitor.page.$$(link('pods'))).length === 2);
    const titles = await visitor.page.$$eval('.summary > .stack:first-child h2', (headings) =>
      headings.map(({ firstChild }) => String(firstChild?.textContent).trim()),
    );
    expect(titles).to.deep.equal(['Conditions', 'Pods', 'ReplicaSets', 'Events']);
    expect(await visitor.accessibilityProblems()).to.deep.equal([]);
    await visitor.page.setViewport({ width: 375, height: 800 });
    const hidden = await visitor.page.$$eval('.summary .scroll', (tables) =>
      tables.map((table) => Number(Reflect.get(table, 'scrollWidth')) - table.clientWidth),
    );
    expect(hidden.length).to.be.above(0);
    expect(hidden).to.satisfy((pixels: number[]) => pixels.every((each) => each === 0));
    // The table has no headings there.
    const labels = await visitor.page.evaluate(`
      [...document.querySelectorAll('[aria-label="Conditions"] tr:last-child td')]
        .map((cell) => getComputedStyle(cell, '::before').content)
        .join()`);
    expect(labels).to.include('Type').and.include('Since');
    await visitor.follow(link('replicasets.apps'));
    await until(async () => (await visitor.heading()).startsWith('web-'));
    await visitor.follow(link('pods'));
    await visitor.sees('Owners');
    await visitor.page.waitForSelector(link('nodes'));
    await visitor.follow(link('replicasets.apps'));
    await visitor.follow(link('deployments.apps'));
    await until(async () => (await visitor.heading()) === 'web');
  });

  it('says why the containers of a pod do not run', async () => {
    const containers = [{ name: 'worker', image: 'registry.example.com/worker:1' }];
    await apply({ apiVersion: 'v1', kind: 'Pod', metadata: metadata('crashing'), spec: { containers } });
    await visitor.open(pathOf('pods', 'crashing'));
    await visitor.sees('registry.example.com/worker:1');
    const status = {
      ...containers[0],
      imageID: '',
      ready: false,
      restartCount: 7,
      state: { waiting: { reason: 'CrashLoopBackOff', message: ATTACK } },
      lastState: { terminated: { exitCode: 137, reason: 'OOMKilled', finishedAt: new Date().toISOString() } },
    };
    const patch = `patch pod crashing -n ${SPACE} --subresource=status -p`;
    await shared.platform.succeeding(patch, JSON.stringify({ status: { containerStatuses: [status] } }));
    await visitor.sees('OOMKilled, exit code 137, ');
    expect(
      await visitor.page.$eval('[aria-label="Containers"] tbody tr', ({ textContent }) => textContent),
    ).to.match(/^workerCrashLoopBackOff7OOMKilled, exit code 137, \d+s agoregistry/);
    expect(await visitor.accessibilityProblems()).to.deep.equal([]);
    // Other tests of this cluster count crash-looping pods.
    await kubectl('delete pod crashing --now');
  });

  it('leads to the logs of its pods', async () => {
    await visitor.open('/explore/objects/deployments.apps/shop/cart-export');
    await visitor.page.locator('nav[aria-label=Parts] ::-p-text(Logs)').click();
    await until(async () => (await visitor.heading()) === 'Logs');
    await visitor.sees(/cart-export-\w+-\w{5}/);
    expect(await visitor.text('#view')).not.to.match(/catalog-\w+-\w{5}/);
    await visitor.open(pathOf('configmaps', 'settings'));
    await visitor.sees('YAML');
    expect(await visitor.text('nav[aria-label=Parts]')).not.to.include('Logs');
  });

  it('keeps its last state when it is deleted', async () => {
    await kubectl('create configmap doomed --from-literal=key=precious');
    await visitor.open(pathOf('configmaps', 'doomed', 'yaml'));
    await visitor.sees('precious');
    await kubectl('delete configmap doomed');
    await visitor.sees('The object has been deleted.');
    expect(await shown()).to.include('precious');
  });

  it('says that it does not exist', async () => {
    await visitor.open(pathOf('configmaps', 'missing'));
    await visitor.sees('configmaps "missing" does not exist');
    await visitor.open('/explore/objects/missing.example.com/default/one');
    await visitor.sees('the cluster has no resource "missing.example.com"');
    expect(await visitor.text('#view')).not.to.include('Loading');
  });

  it('can have a comma in its name', async () => {
    await visitor.open(pathOf('roles.rbac.authorization.k8s.io', encodeURIComponent(COMMA), 'yaml'));
    await until(async () => (await visitor.page.$('pre.yaml')) !== null);
    expect(await shown()).to.include(COMMA);
    await visitor.click('Summary');
    await visitor.sees('Nothing has happened in the last hour.');
    visitor.complaints.splice(0);
  });

  it('has the names of characters that reorder its name', async () => {
    await visitor.open(pathOf('roles.rbac.authorization.k8s.io', encodeURIComponent(RIGHT_TO_LEFT), 'yaml'));
    await until(async () => (await visitor.page.$('pre.yaml')) !== null);
    expect(await shown()).to.include('name: read-<U+202E>etirw');
    expect(await visitor.heading()).to.equal('read-<U+202E>etirw');
    visitor.complaints.splice(0);
  });

  it('hides the values of a Secret until they are requested', async () => {
    await visitor.open(pathOf('secrets', 'password', 'yaml'));
    await visitor.sees('value: ••••••');
    const values = ['correct horse', 'battery staple'].flatMap((value) => [
      value,
      Buffer.from(value).toString('base64'),
    ]);
    const content = async (): Promise<string> =>
      String(await visitor.page.evaluate('document.documentElement.outerHTML'));
    for (const value of values) expect(await content()).not.to.include(value);
    await visitor.click('Managed fields');
    for (const value of values) expect(await content()).not.to.include(value);
    await visitor.click('Secret values');
    for (const value of values.filter((_, i) => i % 2 === 1)) expect(await content()).to.include(value);
    visitor.complaints.splice(0);
  });

  it('is the JSON of the list for a caller without the permission to get it', async () => {
    await as(LISTER, pathOf('configmaps', 'settings', 'yaml'), async (lister) => {
      await lister.sees(/This is the JSON of the list\. .* 403 Forbidden/);
      expect(JSON.parse(await shown(lister))).to.have.nested.property('data.number', LARGE);
    });
  });

  it('is shown to a caller with only the permission to get it', async () => {
    await as(GETTER, pathOf('configmaps', 'settings', 'yaml'), async (getter) => {
      await getter.sees('Lists do not contain this object');
      await until(async () => (await getter.page.$('pre.yaml')) !== null);
      expect(await shown(getter)).to.include(LARGE);
    });
  });
});
