// Tests of long lists of `/explore` in a browser, with 10,000 objects of a real kube-apiserver.
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { forEach } from '../../../hack/simulation/bulk.ts';
import { until } from '../../support/until.ts';
import { sharedExplore, USERS } from './shared-explore.ts';
import type { Visitor } from './visitor.ts';

const SPACE = 'explore-large';
/** They fill the longest page. */
const MANY = 10_000;
const LAST = MANY - 1;
const LIST = `/explore/lists/configmaps?namespace=${SPACE}&q=row-`;
/** Objects that are written to etcd at a time. */
const BATCH = 2_000;

describe('long lists of /explore', () => {
  let shared: Awaited<ReturnType<typeof sharedExplore>>;
  let visitor: Visitor;
  const nameOf = (index: number): string => `row-${String(index).padStart(6, '0')}`;
  /** The pages that the browser has requested, as numbers of objects, without counts. */
  const requested: number[] = [];
  const scrollTo = (part: number): Promise<void> =>
    visitor.page.$eval('.rows', (box, y) => box.scrollTo(0, box.scrollHeight * y), part);
  /** The names of the rows that are in the visible part of the box, and loaded. */
  const visible = (): Promise<string[]> =>
    visitor.page.$eval('.rows', (box) => {
      const { top, bottom } = box.getBoundingClientRect();
      const shown = [...box.querySelectorAll('tbody a')].filter((link) => {
        const { y } = link.getBoundingClientRect();
        return y > top && y < bottom;
      });
      return shown.map(({ textContent }) => textContent ?? '');
    });
  const sees = (index: number): Promise<void> => until(async () => (await visible()).includes(nameOf(index)));
  const focused = async (): Promise<string> =>
    String(await visitor.page.evaluate('document.activeElement.textContent'));

  before(async () => {
    shared = await sharedExplore();
    visitor = await shared.visitor();
    await visitor.signIn(USERS.admin);
    visitor.complaints.splice(0);
    const { client, etcd } = shared.platform.controlPlane;
    await client.expect('/api/v1/namespaces', { method: 'POST', body: { metadata: { name: SPACE } } }, [201]);
    const stored = (index: number): readonly [key: string, object: object] => {
      const name = nameOf(index);
      const creationTimestamp = '2026-01-01T00:00:00Z';
      const metadata = { name, namespace: SPACE, uid: randomUUID(), creationTimestamp };
      return [`/registry/configmaps/${SPACE}/${name}`, { apiVersion: 'v1', kind: 'ConfigMap', metadata }];
    };
    // kube-apiserver creates them too slowly.
    const signal = AbortSignal.timeout(120_000);
    const batches = Iterator.from(Array(MANY / BATCH).keys());
    await forEach(batches, { signal, concurrency: 4 }, async (batch) => {
      const objects = Array.from({ length: BATCH }, (_, i) => stored(batch * BATCH + i));
      await etcd.put(new Map(objects), signal);
    });
    visitor.page.on('request', (request) => {
      const { pathname, searchParams } = new URL(request.url());
      const limit = Number(searchParams.get('limit'));
      if (pathname.endsWith('/configmaps') && limit > 0) requested.push(limit);
    });
  });
  beforeEach(async () => {
    await visitor.open(`${LIST}&limit=10000`);
    await visitor.page.waitForSelector(`table[aria-rowcount="${MANY + 1}"]`);
    await visitor.sees('1–10,000 of 10,000');
    await sees(0);
    requested.splice(0);
  });
  afterEach(() => expect(visitor.complaints.splice(0)).to.deep.equal([]));
  after(() => visitor?.[Symbol.asyncDispose]());

  it('load the rows that are visible, and few others', async () => {
    const inDocument = (): Promise<number> => visitor.page.$$eval('tbody tr', (all) => all.length);
    await visitor.page.focus('tbody a[tabindex="0"]');
    for (const [part, index] of [
      [0.5, 5_003],
      [1, LAST],
      [0.25, 2_503],
    ] as const) {
      await scrollTo(part);
      await sees(index);
      expect(await inDocument()).to.be.below(80);
    }
    // The row with the focus stays, although it is not visible.
    expect(await focused()).to.equal(nameOf(0));
    expect(requested).to.have.length(3);
    expect(Math.max(...requested)).to.be.below(300);
    const tools = await visitor.page.createCDPSession();
    await tools.send('HeapProfiler.collectGarbage');
    const { JSHeapUsedSize = Number.POSITIVE_INFINITY } = await visitor.page.metrics();
    expect(JSHeapUsedSize).to.be.below(16 << 20);
  });

  it('request nothing while the user passes rows with the scroll bar', async () => {
    await visitor.page.evaluate(`(async () => {
      const box = document.querySelector('.rows');
      for (let step = 1; step <= 100; step++) {
        box.scrollTo(0, box.scrollHeight * step / 200);
        await new Promise(requestAnimationFrame);
      }
    })()`);
    await sees(5_003);
    expect(requested).to.have.length.below(5);
  });

  it('have all rows when the user scrolls step by step', async () => {
    for (let index = 0; index < 400; index += 10) {
      await visitor.page.$eval('.rows', (box, y) => box.scrollTo(0, y), index * 36);
      await sees(index + 2);
    }
    expect(requested).to.have.length.below(14);
  });

  it('are as long as their rows are high, with a larger font of the reader, too', async () => {
    const page = await visitor.tab();
    await page.evaluateOnNewDocument(`
      const enlarge = () => document.documentElement?.style.setProperty('font-size', '24px');
      new MutationObserver(enlarge).observe(document, { childList: true });`);
    await visitor.open(`${LIST}&limit=10000`, page);
    await page.waitForSelector(`table[aria-rowcount="${MANY + 1}"] tbody a`);
    const [length, row] = await page.$eval('.rows', (box) => [
      box.scrollHeight,
      box.querySelector('tbody tr')?.getBoundingClientRect().height ?? 0,
    ]);
    expect(row).to.equal(54);
    expect(length).to.be.within(MANY * 54, (MANY + 2) * 54);
    await page.close();
  });

  it('change with the cluster in the middle of a page, at the same place', async () => {
    await scrollTo(0.5);
    await sees(5_003);
    const widths = (): Promise<number[]> =>
      visitor.page.$$eval('.rows th', (heads) =>
        heads.map((head) => Math.round(head.getBoundingClientRect().width)),
      );
    const before = await widths();
    const path = `/api/v1/namespaces/${SPACE}/configmaps`;
    const { client } = shared.platform.controlPlane;
    const contentType = 'application/merge-patch+json';
    const body = { data: { a: '1', b: '2' } };
    await client.expect(`${path}/${nameOf(5_003)}`, { method: 'PATCH', contentType, body }, [200]);
    await until(async () => (await visitor.text(`tr:has([title="${nameOf(5_003)}"])`)).includes('2'));
    await client.expect(`${path}/${nameOf(5_004)}`, { method: 'DELETE' }, [200]);
    await until(async () => !(await visible()).includes(nameOf(5_004)));
    expect(await visible()).to.include.members([nameOf(5_003), nameOf(5_005)]);
    const metadata = { name: nameOf(5_004) };
    await client.expect(path, { method: 'POST', body: { metadata } }, [201]);
    await sees(5_004);
    expect(await widths()).to.deep.equal(before);
    expect(requested).to.have.length(1);
  });

  it('have the rows of their page only', async () => {
    await visitor.open(`${LIST}&limit=1000&page=3`);
    await visitor.sees('2,001–3,000 of 10,000');
    for (const [part, index, row] of [
      [0, 2_000, 2_002],
      [0.5, 2_503, 2_505],
      [1, 2_999, 3_001],
    ] as const) {
      await scrollTo(part);
      await sees(index);
      const link = `[title="${nameOf(index)}"]`;
      const found = await visitor.page.$eval(`tr:has(${link})`, (each) => each.getAttribute('aria-rowindex'));
      expect(found).to.equal(String(row));
    }
    expect(await visible())
      .to.include(nameOf(2_999))
      .and.not.include(nameOf(3_000));
  });

  it('show other rows while they are paused', async () => {
    await visitor.click('Pause');
    await visitor.sees('Paused');
    await scrollTo(0.5);
    await sees(5_003);
    await visitor.click('Pause');
    await visitor.sees('Live');
  });

  it('can be used with the keyboard only', async () => {
    const { keyboard } = visitor.page;
    const rowIndex = (): Promise<string | null> =>
      visitor.page.$eval('tr:has(a:focus)', (row) => row.getAttribute('aria-rowindex'));
    await visitor.page.focus('tbody a[tabindex="0"]');
    await keyboard.press('End');
    await until(async () => (await focused()) === nameOf(LAST));
    expect(await rowIndex()).to.equal(String(LAST + 2));
    for (const index of [LAST - 1, LAST - 2]) {
      await keyboard.press('ArrowUp');
      await until(async () => (await focused()) === nameOf(index));
    }
    // Before the rows are loaded.
    await keyboard.press('Home');
    await keyboard.press('ArrowDown');
    await until(async () => (await focused()) === nameOf(1));
    expect(await rowIndex()).to.equal('3');
    await scrollTo(0.5);
    await sees(5_003);
    await keyboard.press('ArrowDown');
    await until(async () => (await focused()) === nameOf(2));
    await sees(2);
    expect(await visitor.accessibilityProblems()).to.deep.equal([]);
  });

  it('keep the focus at its row when another one appears, and at its place when the row is deleted', async () => {
    const path = `/api/v1/namespaces/${SPACE}/configmaps`;
    const { client } = shared.platform.controlPlane;
    await visitor.page.focus(`[title="${nameOf(2)}"]`);
    await client.expect(path, { method: 'POST', body: { metadata: { name: `${nameOf(0)}-a` } } }, [201]);
    await until(async () => (await visible()).includes(`${nameOf(0)}-a`));
    expect(await focused()).to.equal(nameOf(2));
    await visitor.page.keyboard.press('ArrowDown');
    await until(async () => (await focused()) === nameOf(3));
    await client.expect(`${path}/${nameOf(3)}`, { method: 'DELETE' }, [200]);
    await until(async () => (await focused()) === nameOf(4));
    await client.expect(path, { method: 'POST', body: { metadata: { name: nameOf(3) } } }, [201]);
    await client.expect(`${path}/${nameOf(0)}-a`, { method: 'DELETE' }, [200]);
    await until(async () => !(await visible()).includes(`${nameOf(0)}-a`));
    expect(await focused()).to.equal(nameOf(4));
  });

  it('have placeholders while the connection is lost, and then the rows', async () => {
    await visitor.page.setOfflineMode(true);
    await scrollTo(0.5);
    await visitor.sees('Loading …');
    await visitor.sees('Connection lost');
    expect(await visible()).to.deep.equal([]);
    expect(await visitor.accessibilityProblems()).to.deep.equal([]);
    await visitor.page.setOfflineMode(false);
    await sees(5_003);
    // The browser logs each request that failed.
    for (const each of visitor.complaints.splice(0)) expect(each).to.include('ERR_INTERNET_DISCONNECTED');
  });

  it('begin at the top after they are sorted', async () => {
    await scrollTo(0.5);
    await sees(5_003);
    await visitor.page.locator('th button ::-p-text(Name)').click();
    await sees(LAST);
    expect(await visitor.page.$eval('.rows', (box) => box.scrollTop)).to.equal(0);
  });
});
