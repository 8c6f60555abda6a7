// Tests of the frame of the page `/explore`, its overview and its search, in a browser.
import { expect } from 'chai';
import type { HTTPRequest } from 'puppeteer-core';
import { stringify } from 'yaml';
import { nodeName } from '../../../hack/simulation/realistic-node.ts';
import { AggregatedAPI } from '../../support/cluster/aggregated-api.ts';
import { until } from '../../support/until.ts';
import { sharedExplore, TENANT_NAMESPACES, USERS } from './shared-explore.ts';
import type { Visitor } from './visitor.ts';

/** The role of metrics-server, which the role `view` contains. */
const METRICS_READER = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  metadata: {
    name: 'system:aggregated-metrics-reader',
    labels: { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' },
  },
  rules: [{ apiGroups: ['metrics.k8s.io'], resources: ['nodes'], verbs: ['get', 'list', 'watch'] }],
};

function nodeMetrics(name: string, cpu: string, memory: string): object {
  return { metadata: { name }, timestamp: new Date().toISOString(), window: '20s', usage: { cpu, memory } };
}

describe('the overview and the search of /explore', () => {
  let shared: Awaited<ReturnType<typeof sharedExplore>>;
  let visitor: Visitor;

  before(async () => {
    shared = await sharedExplore();
  });
  beforeEach(async () => {
    visitor = await shared.visitor();
  });
  afterEach(async () => {
    await visitor[Symbol.asyncDispose]();
    expect(visitor.complaints).to.deep.equal([]);
  });

  const leadsTo = (address: string): Promise<void> =>
    until(async () => {
      const { pathname, search } = await visitor.address();
      return pathname + search === address;
    });
  const focused = (): Promise<unknown> => visitor.page.evaluate('document.activeElement.textContent');

  it('counts objects by status, and leads to the list of a status', async () => {
    await visitor.signIn(USERS.viewer);
    await visitor.sees('2 CrashLoopBackOff');
    await visitor.sees(/Namespaces\s+\d/);
    await until(async () => (await visitor.page.title()) === 'Overview · Explore');
    await visitor.click('2 CrashLoopBackOff');
    await leadsTo('/explore/lists/pods?status=CrashLoopBackOff');
    await until(async () => (await visitor.page.title()) === 'Pods · Explore');
    await until(async () => (await focused()) === (await visitor.heading()));
  });

  it('says that it has not started when a module is missing, for example during an update', async () => {
    const { page } = visitor;
    const hint = 'The page has not started yet';
    await page.setRequestInterception(true);
    page.on('request', (request) => {
      const isMissing = request.url().endsWith('/explore/route.js');
      void (isMissing ? request.respond({ status: 404 }) : request.continue());
    });
    await visitor.open('/explore');
    await visitor.sees(hint);
    page.removeAllListeners('request');
    await page.setRequestInterception(false);
    await visitor.signIn(USERS.viewer);
    expect(await page.evaluate('getComputedStyle(document.querySelector(".late")).display')).to.equal('none');
  });

  it('opens no result of an earlier text of the search', async () => {
    const { page } = visitor;
    await visitor.signIn(USERS.viewer);
    await visitor.click('Search');
    await page.keyboard.type('cart');
    await visitor.sees('cart-export');
    await visitor.sees(/Searched in/);
    await page.setRequestInterception(true);
    const search = Promise.withResolvers<HTTPRequest>();
    page.on('request', (request) => {
      if (request.url().includes('grafana')) search.resolve(request);
      else void request.continue();
    });
    await page.evaluate('document.querySelector("dialog input").select()');
    await page.keyboard.type('grafana');
    await page.keyboard.press('Enter');
    const held = await search.promise;
    expect((await visitor.address()).pathname).to.equal('/explore');
    await held.continue();
    await visitor.sees(/grafana-/);
    await page.keyboard.press('Enter');
    await leadsTo('/explore/objects/deployments.apps/monitoring/grafana');
  });

  it('shows nodes with their requests, and new events as they happen', async () => {
    await visitor.signIn(USERS.viewer);
    await visitor.sees('Requested by pods');
    await visitor.sees(/node-00001[^]*cores/);
    await visitor.sees('Recent events');
    const event = {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: 'cart.now', namespace: 'shop' },
      involvedObject: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'cart', namespace: 'shop' },
      type: 'Warning',
      reason: 'HappensNow',
      message: '<img src=x onerror=alert(1)>',
      lastTimestamp: new Date().toISOString(),
    };
    await shared.platform.succeeding(
      'create -f',
      await shared.platform.write('event.json', JSON.stringify(event)),
    );
    await visitor.sees('HappensNow');
    // Text of the cluster is no markup.
    await visitor.sees('<img src=x onerror=alert(1)>');
    expect(await visitor.page.$('#view img')).to.equal(null);
    await visitor.click('Deployment cart');
    await leadsTo('/explore/objects/deployments.apps/shop/cart');
  });

  it('shows all columns of nodes, and of the conditions of a node, on a screen of 1280 pixels', async () => {
    const hidden = (): Promise<number[]> =>
      visitor.page.$$eval('.card .scroll', (boxes) =>
        boxes.map(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth),
      );
    await visitor.signIn(USERS.viewer);
    await visitor.sees(/node-00001[^]*cores/);
    expect(await hidden()).to.deep.equal([0]);
    await visitor.follow('.nodes a[href$="/node-00001"]');
    await visitor.sees('NetworkUnavailable');
    expect(Math.max(...(await hidden()))).to.equal(0);
  });

  it('shows the measured usage of nodes, and the busiest first', async () => {
    const { platform } = shared;
    const kind = { version: 'v1beta1', plural: 'nodes', kind: 'NodeMetrics' };
    // A stand-in for metrics-server, without a measurement of one node.
    const api = await AggregatedAPI.start(platform.controlPlane, 'metrics.k8s.io', kind);
    const items = [nodeMetrics(nodeName(0), '500m', '2Gi'), nodeMetrics(nodeName(1), '3500m', '4Gi')];
    const metrics = { kind: 'NodeMetricsList', apiVersion: 'metrics.k8s.io/v1beta1', metadata: {}, items };
    api.respond = ({ response }) => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(metrics));
    };
    try {
      await platform.succeeding('apply -f', await platform.write('metrics.yaml', stringify(METRICS_READER)));
      await api.register();
      await until(async () => (await platform.kubectl('get nodes.metrics.k8s.io')).code === 0);
      await visitor.signIn(USERS.viewer);
      await visitor.sees('Used now, of what pods can use. Problems first, then the busiest of these nodes.');
      const usage = async (node: string): Promise<string> =>
        visitor.page.$eval(`.nodes tr:has(a[href$="/${node}"])`, ({ textContent }) => textContent ?? '');
      expect(await usage(nodeName(0))).to.match(/\d+ % 0\.5 of [\d.]+ cores\d+ % 2 GiB of [\d.]+ GiB/);
      expect(await usage(nodeName(1))).to.match(/\d+ % 3\.5 of [\d.]+ cores\d+ % 4 GiB of [\d.]+ GiB/);
      expect(await usage(nodeName(2)), 'only its capacity').not.to.include('%');
      const shown = await visitor.page.$$eval('.nodes a[href*="/nodes/"]', (links) =>
        links.map((each) => each.textContent),
      );
      expect(shown).to.deep.equal([nodeName(1), nodeName(0), nodeName(2)]);
      expect(await visitor.accessibilityProblems()).to.deep.equal([]);
    } finally {
      await api.stop();
    }
  });

  it('finds objects and kinds with the keyboard alone', async () => {
    await visitor.signIn(USERS.viewer);
    await visitor.page.keyboard.down('Control');
    await visitor.page.keyboard.press('k');
    await visitor.page.keyboard.up('Control');
    await visitor.page.keyboard.type('cart-se');
    await visitor.sees('cart-settings');
    expect(await visitor.accessibilityProblems()).to.deep.equal([]);
    await visitor.page.keyboard.press('Enter');
    await leadsTo('/explore/objects/configmaps/shop/cart-settings');
    await visitor.click('Search');
    await visitor.page.keyboard.type('sts');
    await visitor.sees(/Lists\s+StatefulSets/);
    await visitor.page.keyboard.press('Enter');
    await leadsTo('/explore/lists/statefulsets.apps');
    await visitor.click('Search');
    await visitor.page.keyboard.type('no such name');
    await visitor.sees(/Nothing found in \d+ kinds/);
    await visitor.page.keyboard.press('Escape');
    await visitor.page.waitForFunction('document.querySelector("dialog") === null');
  });

  it('keeps the chosen namespace in all views', async () => {
    await visitor.signIn(USERS.viewer);
    await visitor.page.type('#namespace', 'shop');
    await visitor.page.keyboard.press('Enter');
    await visitor.sees('of namespace shop');
    await visitor.click('Deployments');
    await leadsTo('/explore/lists/deployments.apps?namespace=shop');
    await visitor.page.goBack();
    await visitor.sees('of namespace shop');
    await visitor.follow('#navigation a[href^="/explore/logs"]');
    await leadsTo('/explore/logs?namespace=shop');
    // In the filter only: a second field would contradict it.
    const fields = await visitor.page.$$eval('input', (inputs) =>
      inputs.filter(({ value }) => value === 'shop'),
    );
    expect(fields.length).to.equal(1);
    expect(await visitor.page.$('#namespace')).to.equal(null);
  });

  it('counts only kinds with namespaces in a namespace, also while the kinds of the cluster are unknown', async () => {
    const rejected: string[] = [];
    visitor.page.on('response', (response) => {
      if (response.status() === 400) rejected.push(response.url());
    });
    await visitor.signIn(USERS.viewer, '/explore?namespace=shop');
    await visitor.sees('of namespace shop');
    await visitor.sees(/Deployments\s*\d/);
    expect(rejected).to.deep.equal([]);
  });

  it('shows a tenant what he may see, and says so', async () => {
    await visitor.signIn(USERS.tenant);
    await visitor.sees('Only objects of the namespaces that you may list are counted.');
    await visitor.sees('You may not list: Nodes');
    const shown = await visitor.text();
    expect(shown).to.not.contain('monitoring').and.to.not.contain('kube-system');
    await visitor.page.focus('#namespace');
    await visitor.page.waitForSelector('header option');
    const offered = await visitor.page.$$eval('header option', (options) =>
      options.map((option) => option.getAttribute('value')),
    );
    expect(offered).to.deep.equal(TENANT_NAMESPACES);
  });

  it('is accessible, on narrow and wide screens, in both colour schemes', async () => {
    await visitor.signIn(USERS.viewer);
    await visitor.sees('2 CrashLoopBackOff');
    await visitor.sees('Requested by pods');
    expect(await visitor.accessibilityProblems()).to.deep.equal([]);
    await visitor.page.setViewport({ width: 375, height: 800 });
    await visitor.click('Menu');
    expect(await visitor.accessibilityProblems()).to.deep.equal([]);
  });

  it('shows which view is selected with forced colors, too', async () => {
    await visitor.signIn(USERS.viewer);
    const tools = await visitor.page.createCDPSession();
    const features = [{ name: 'forced-colors', value: 'active' }];
    await tools.send('Emulation.setEmulatedMedia', { features });
    const border = "getComputedStyle(document.querySelector('#navigation [aria-current]')).borderTopWidth";
    expect(await visitor.page.evaluate(border)).to.equal('2px');
  });

  it('has a page for an address without a view', async () => {
    await visitor.signIn(USERS.viewer, '/explore/nothing');
    expect(await visitor.heading()).to.equal('Page not found');
    await visitor.click('Go to the overview');
    expect(await visitor.heading()).to.equal('Overview');
  });
});
