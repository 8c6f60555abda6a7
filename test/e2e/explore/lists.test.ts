// Tests of the lists of `/explore` in a browser, with the objects of a real kube-apiserver.
import { expect } from 'chai';
import { stringify } from 'yaml';
import { definitionOf, version } from '../../support/cluster/custom-resource.ts';
import { until } from '../../support/until.ts';
import { sharedExplore, USERS } from './shared-explore.ts';
import type { Visitor } from './visitor.ts';

const SPACE = 'explore-lists';
const MAPS = `/explore/lists/configmaps?namespace=${SPACE}`;
const ATTACK = '<img src=x onerror="window.pwned=1"><script>window.pwned=1</script>';
const RIGHT_TO_LEFT = '\u202eexe.gpj';

function configMap(name: string, labels: object = {}): object {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace: SPACE, labels },
    data: { a: '1' },
  };
}

/** A kind with hostile printer columns, and its objects. */
function gadgets(): object[] {
  const column = (name: string, jsonPath: string, more: object = {}) => ({
    name,
    type: 'string',
    jsonPath,
    ...more,
  });
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  const additionalPrinterColumns = [
    column('Size', '.spec.size', { type: 'integer', description: ATTACK }),
    column(ATTACK, '.spec.attack'),
    column('Order', '.spec.order', { priority: 1 }),
  ];
  const versions = [version('v1', { schema, additionalPrinterColumns })];
  const definition = definitionOf({ plural: 'gadgets', kind: 'Gadget', scope: 'Namespaced', versions });
  return [definition];
}

function gadget(name: string, size: number): object {
  const spec = { size, attack: ATTACK, order: `${RIGHT_TO_LEFT}${'long'.repeat(200)}` };
  const annotations = { note: ATTACK };
  return {
    apiVersion: 'example.com/v1',
    kind: 'Gadget',
    metadata: { name, namespace: SPACE, annotations },
    spec,
  };
}

/** The server follows what the role `view` can list. */
const VIEW_GADGETS = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  metadata: { name: 'view-gadgets', labels: { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' } },
  rules: [{ apiGroups: ['example.com'], resources: ['gadgets'], verbs: ['get', 'list', 'watch'] }],
};

describe('the lists of /explore', () => {
  let shared: Awaited<ReturnType<typeof sharedExplore>>;
  let visitor: Visitor;

  const apply = async (...objects: object[]): Promise<string> => {
    const file = await shared.platform.write(
      'lists.yaml',
      objects.map((object) => stringify(object)).join('---\n'),
    );
    return shared.platform.succeeding('apply -f', file);
  };
  const rows = (): Promise<string[]> =>
    visitor.page.$$eval('tbody tr[aria-rowindex] a', (links) =>
      links.map(({ textContent }) => textContent ?? ''),
    );
  const seesRows = (test: (names: readonly string[]) => boolean): Promise<void> =>
    until(async () => test(await rows()));
  const search = async (): Promise<URLSearchParams> => (await visitor.address()).searchParams;
  /** The value of a column in the row of an object. */
  const cell = (name: string, column: string): Promise<string> =>
    visitor.page.$eval(
      '.rows table',
      (table, row, header) => {
        const heads = [...table.querySelectorAll('th')].map(({ textContent }) => textContent);
        const line = [...table.querySelectorAll('tbody tr')].find(
          (each) => each.querySelector('a')?.textContent === row,
        );
        return line?.querySelectorAll('td')[heads.indexOf(header)]?.textContent ?? '';
      },
      name,
      column,
    );

  before(async () => {
    shared = await sharedExplore();
    visitor = await shared.visitor();
    await visitor.signIn(USERS.admin);
    visitor.complaints.splice(0);
    const maps = Array.from({ length: 120 }, (_, i) =>
      configMap(`map-${String(i).padStart(3, '0')}`, { part: i % 3 === 0 ? 'a' : 'b' }),
    );
    const space = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: SPACE } };
    await apply(space, ...gadgets(), VIEW_GADGETS, ...maps);
    await until(async () => (await shared.platform.kubectl('get gadgets -A')).code === 0);
    await apply(gadget('small', 3), gadget('large', 20), gadget('medium', 10));
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

  it('filter by text, and keep the filter in the address', async () => {
    await visitor.open(MAPS);
    await seesRows((names) => names.length > 10);
    await visitor.page.type('input[aria-label="Filter by text"]', 'map-01');
    await seesRows((names) => names.length === 10 && names.every((name) => name.startsWith('map-01')));
    expect((await search()).get('q')).to.equal('map-01');
    await visitor.page.reload();
    await seesRows((names) => names.length === 10);
    await visitor.page.type('input[aria-label="Filter by text"]', 'zzz');
    await visitor.sees('No ConfigMaps match the filters.');
    await visitor.click('Clear filters');
    await seesRows((names) => names.length > 10);
  });

  it('filter by several values of a facet, each with its count, and remove them', async () => {
    await visitor.open(`${MAPS}&by=part`);
    await visitor.click('a 40');
    await visitor.sees('of 40');
    expect((await search()).getAll('value')).to.deep.equal(['a']);
    // The other value is still offered.
    await visitor.click('b 80');
    await visitor.sees('of 120');
    expect((await search()).getAll('value')).to.deep.equal(['a', 'b']);
    await visitor.click('a 40');
    await visitor.sees('of 80');
    expect(
      await visitor.page.$$eval('[aria-pressed=true] bdi', (chips) => chips.map((chip) => chip.textContent)),
    ).to.include('b');
  });

  it('have counts that agree with the list after a change', async () => {
    const tab = await visitor.tab();
    // Without the counts that are read every ten seconds.
    await tab.evaluateOnNewDocument(`
      const start = setTimeout;
      globalThis.setTimeout = (run, delay, ...args) => (delay === 10_000 ? 0 : start(run, delay, ...args));`);
    await visitor.open(`${MAPS}&by=part&value=a`, tab);
    await visitor.sees('of 40', tab);
    await visitor.sees(/a\s+40\s+b\s+80/, tab);
    await shared.platform.succeeding(`label configmap map-000 -n ${SPACE} part=b --overwrite`);
    await visitor.sees('of 39', tab);
    await visitor.sees(/a\s+39\s+b\s+81/, tab);
    await shared.platform.succeeding(`label configmap map-000 -n ${SPACE} part=a --overwrite`);
    await tab.close();
  });

  it('filter by status', async () => {
    await visitor.open('/explore/lists/pods');
    await visitor.page.locator('.facet button ::-p-text(CrashLoopBackOff)').click();
    await seesRows((names) => names.length > 0);
    await until(async () => {
      const words = await visitor.page.$$eval('td .status', (cells) =>
        cells.map(({ textContent }) => textContent),
      );
      return words.length > 0 && words.every((word) => word === 'CrashLoopBackOff');
    });
  });

  it('show the error of a selector at its field', async () => {
    await visitor.open(MAPS);
    await visitor.click('Selectors');
    const input = await visitor.page.waitForSelector('::-p-aria(Label selector)');
    await input?.type('part in\n');
    await visitor.sees('must be a selector, not "part in"');
    expect(await input?.evaluate((element) => element.getAttribute('aria-invalid'))).to.equal('true');
    expect(await visitor.accessibilityProblems()).to.deep.equal([]);
    await input?.type(' (a)\n');
    await visitor.sees('of 40');
    // The responses to the invalid selector.
    visitor.complaints.splice(0);
  });

  it('sort by their headers', async () => {
    await visitor.open(`/explore/lists/gadgets.example.com?namespace=${SPACE}`);
    await seesRows((names) => names.join() === 'large,medium,small');
    const sort = (): Promise<void> => visitor.page.locator('th button ::-p-text(Size)').click();
    await sort();
    await seesRows((names) => names.join() === 'large,medium,small');
    await until(async () => (await visitor.page.$('th[aria-sort=descending]')) !== null);
    await sort();
    await seesRows((names) => names.join() === 'small,medium,large');
    expect(
      await visitor.page.$$eval('th[aria-sort=ascending]', (heads) =>
        heads.map(({ textContent }) => textContent),
      ),
    ).to.deep.equal(['Size']);
    // The cell would cut an outline around its button.
    const offset = await visitor.page.evaluate(
      `getComputedStyle(document.querySelector('.sort')).outlineOffset`,
    );
    expect(offset).to.equal('-2px');
  });

  it('have pages, and page sizes', async () => {
    await visitor.open(`${MAPS}&q=map-`);
    await visitor.sees('1–50 of 120');
    await visitor.click('Next page');
    await visitor.sees('51–100 of 120');
    await seesRows(([first]) => first === 'map-050');
    await visitor.click('Last page');
    await visitor.sees('101–120 of 120');
    await visitor.page.goBack();
    await visitor.sees('51–100 of 120');
    await visitor.page.select('nav[aria-label=Pages] select', '200');
    await visitor.sees('1–120 of 120');
  });

  it('change with the cluster, unless they are paused', async () => {
    const patch = (keys: string): Promise<string> =>
      shared.platform.succeeding(`patch configmap map-000 -n ${SPACE} --type merge -p {"data":{${keys}}}`);
    await visitor.open(MAPS);
    await visitor.sees('Live');
    await seesRows((names) => names.includes('map-000'));
    await until(async () => (await cell('map-000', 'Data')) === '1');
    await patch('"b":"2"');
    await until(async () => (await cell('map-000', 'Data')) === '2');
    await visitor.click('Pause');
    await visitor.sees('Paused');
    await patch('"c":"3"');
    expect(await cell('map-000', 'Data')).to.equal('2');
    await visitor.click('Pause');
    await until(async () => (await cell('map-000', 'Data')) === '3');
  });

  it('change with the cluster as long pages, too', async () => {
    await visitor.open(`${MAPS}&limit=1000&q=long-`);
    await visitor.sees('No ConfigMaps match the filters.');
    for (const name of ['long-a', 'long-b']) {
      await shared.platform.succeeding(`create configmap ${name} -n ${SPACE}`);
      await seesRows((names) => names.includes(name));
    }
    await shared.platform.succeeding(`delete configmap long-a long-b -n ${SPACE}`);
    await visitor.sees('No ConfigMaps match the filters.');
  });

  it('show events with their messages on a screen of 1280 pixels', async () => {
    const message = 'Error updating Endpoint Slices for Service explore-lists/web';
    await apply({
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: 'web-7f9c6d5b48-x2x7q.18ece1cfb37ce444', namespace: SPACE },
      involvedObject: { apiVersion: 'v1', kind: 'Service', name: 'web', namespace: SPACE },
      type: 'Warning',
      reason: 'FailedToUpdateEndpointSlices',
      message,
      lastTimestamp: new Date().toISOString(),
    });
    await visitor.page.setViewport({ width: 1280, height: 800 });
    await visitor.open('/explore/lists/events');
    await visitor.page.waitForSelector(`td[title="${message}"]`);
    const hidden = await visitor.page.$eval('.rows', (box) => box.scrollWidth - box.clientWidth);
    expect(hidden).to.equal(0);
  });

  it('show the printer columns of custom resources, whatever they contain', async () => {
    await visitor.open(`/explore/lists/gadgets.example.com?namespace=${SPACE}`);
    await seesRows((names) => names.length === 3);
    expect(await cell('large', 'Size')).to.equal('20');
    expect(await cell('large', ATTACK)).to.equal(ATTACK);
    expect(await visitor.text('.rows')).not.to.include('Order');
    await visitor.click('More columns');
    await until(async () => (await cell('small', 'Order')).startsWith('<U+202E>exe.gpj'));
    expect(await visitor.page.$$(`.rows [title*="${RIGHT_TO_LEFT}"]`)).to.deep.equal([]);
    expect(await visitor.page.$$('.rows img, .rows script')).to.deep.equal([]);
    expect(await visitor.accessibilityProblems()).to.deep.equal([]);
  });

  it('can be used with the keyboard only', async () => {
    await visitor.open(MAPS);
    await seesRows((names) => names.length > 10);
    const focused = (): Promise<unknown> => visitor.page.evaluate('document.activeElement.textContent');
    await visitor.page.focus('tbody a[tabindex="0"]');
    for (const key of ['ArrowDown', 'ArrowDown', 'ArrowUp'] as const) await visitor.page.keyboard.press(key);
    await until(async () => (await focused()) === (await rows())[1]);
    await visitor.page.keyboard.press('End');
    await until(async () => (await focused()) === (await rows()).at(-1));
    await visitor.page.keyboard.press('Home');
    await until(async () => (await focused()) === (await rows())[0]);
    const name = String(await focused());
    await visitor.page.keyboard.press('Enter');
    await until(async () => (await visitor.heading()) === name);
    await until(async () => (await visitor.page.evaluate('document.activeElement.tagName')) === 'H1');
  });

  it('say that a tenant sees a part, and what a caller may not see', async () => {
    await as(USERS.tenant, '/explore/lists/pods', async (tenant) => {
      await tenant.sees('Objects of 2 namespaces that you may list.');
      expect(await tenant.accessibilityProblems()).to.deep.equal([]);
      await tenant.open('/explore/lists/nodes');
      await tenant.sees(/nodes\.resources\.platform\.io is forbidden: User "tom"/);
    });
  });

  it('say why a kind is not served', async () => {
    await visitor.open('/explore/lists/secrets');
    await visitor.sees('secrets are restricted');
    await visitor.open('/explore/lists/inventions');
    await visitor.sees(/inventions/);
    await until(async () => (await visitor.page.$('[role=alert]')) !== null);
    expect(await visitor.accessibilityProblems()).to.deep.equal([]);
    await visitor.open('/explore/lists/leases.coordination.k8s.io');
    await visitor.sees('this server is not allowed to list leases.coordination.k8s.io');
    expect(await visitor.text('#view')).not.to.match(/Connection lost|Loading/);
    visitor.complaints.splice(0);
  });
});
