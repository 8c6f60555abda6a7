// Tests of the view of logs of `/explore` in a browser, with VictoriaLogs as the log store.
import { expect } from 'chai';
import { type StartedChromium, startChromium } from '../../../hack/browser/chromium.ts';
import { loadVictoriaLogs } from '../../../hack/log-stores/load-victorialogs.ts';
import type { LogStoreProcess } from '../../../hack/log-stores/log-store.ts';
import { line } from '../../support/logging/log-service.ts';
import { until } from '../../support/until.ts';
import { Visitor } from '../explore/visitor.ts';
import { PASSWORD, type Platform } from '../platform.ts';
import { addUser, sharedConfigured } from './shared-configured.ts';

const USER = 'lola';
/** Only these tests write its lines. */
const NAMESPACE = 'ledger';
/** Number of lines in the last 50 minutes, one every 10 seconds. */
const LINES = 300;
const SLOW = LINES / 10;

describe('the view of logs of /explore, with VictoriaLogs', () => {
  let platform: Platform;
  let store: LogStoreProcess;
  let chromium: StartedChromium;
  let visitor: Visitor;

  before(async () => {
    const configured = await sharedConfigured();
    ({ store } = configured);
    ({ platform } = configured.gateway);
    await platform.bind('cluster-admin', `--user=${USER}`);
    await platform.permitted(`* * --as=${USER}`);
    await addUser(platform, USER);
    const now = Date.now();
    const times = Array.from({ length: LINES }, (_, i) => now - (i + 1) * 10_000);
    await write(
      ...times.map((time, i) => ({
        time,
        text: i % 10 === 0 ? `level=error msg="slow posting ${i}"` : `level=info msg="posting ${i}"`,
      })),
    );
    chromium = await startChromium();
    visitor = await Visitor.start(chromium.browser, { server: platform.server.url, password: PASSWORD });
    await visitor.acceptFiles();
    await visitor.signIn(USER);
  });
  after(() => chromium?.[Symbol.asyncDispose]());
  afterEach(() => expect(visitor.complaints.splice(0)).to.deep.equal([]));

  async function write(...lines: readonly { readonly time: number; readonly text: string }[]): Promise<void> {
    await writeIn(NAMESPACE, lines);
  }
  async function writeIn(
    namespace: string,
    lines: readonly { readonly time: number; readonly text: string }[],
  ): Promise<void> {
    const records = lines.map(({ time, text }) =>
      line(new Date(time).toISOString().replace('Z', '000000Z'), text, { namespace }),
    );
    await loadVictoriaLogs(store.url, records);
  }
  const open = (query = ''): Promise<void> =>
    visitor.open(`/explore/logs?last=1h&namespaces=${NAMESPACE}${query}`);
  const lines = (): Promise<string[]> =>
    visitor.page.$$eval('.log-content', (all) => all.map(({ textContent }) => textContent ?? ''));

  it('filters by text and level, and marks the matches', async () => {
    await open();
    await visitor.sees(`${LINES} lines`);
    await visitor.page.type('.logs [type=search]', 'slow');
    await visitor.sees(`${SLOW} lines`);
    await until(async () => (await lines()).every((text) => text.includes('slow posting')));
    const marks = await visitor.page.$$eval('.log-content mark', (all) =>
      all.map((each) => each.textContent),
    );
    expect(marks).to.deep.equal(Array.from({ length: SLOW }, () => 'slow'));
    await visitor.page.locator('[aria-label=Level] ::-p-text(info)').click();
    await visitor.sees('No line matches the filters in this time range.');
  });

  it('zooms into a part of the histogram, whose counts are those of the lines', async () => {
    await open();
    await visitor.sees(`${LINES} lines`);
    await visitor.page.locator('.histogram-bars').scroll();
    const box = await (await visitor.page.waitForSelector('.histogram-bars'))?.boundingBox();
    const { x, y, width } = box ?? { x: 0, y: 0, width: 0 };
    await visitor.page.mouse.move(x + width * 0.5, y + 20);
    await visitor.page.mouse.down();
    await visitor.page.mouse.move(x + width * 0.7, y + 20);
    let zoomed = 0;
    // The page shows the selection after the movement.
    await until(async () => {
      const shown = await visitor.page.$eval('.histogram output', ({ textContent }) => textContent ?? '');
      const counts = [...shown.matchAll(/(\d+) (?:error|info)/g)].map(([, count]) => Number(count));
      zoomed = counts.reduce((sum, count) => sum + count, 0);
      return zoomed >= 60;
    });
    await visitor.page.mouse.up();
    await until(async () => (await visitor.address()).searchParams.has('start_time'));
    expect(zoomed).to.be.at.most(90);
    await visitor.sees(`${zoomed} lines`);
    await until(async () => (await lines()).length === zoomed);
  });

  it('follows new lines, and keeps them while it is paused', async () => {
    await open('&follow=true');
    await visitor.sees('Live');
    const has = async (text: string): Promise<boolean> => (await lines()).some((each) => each.includes(text));
    await write({ time: Date.now(), text: 'a new entry' });
    await until(() => has('a new entry'));
    await visitor.click('Pause');
    await write({ time: Date.now(), text: 'a late entry' });
    await visitor.sees('1 new lines');
    expect(await has('a late entry')).to.equal(false);
    await visitor.click('Pause');
    await until(() => has('a late entry'));
  });

  it('exports all lines of the filters', async () => {
    await open('&log_query=slow');
    await visitor.sees(`${SLOW} lines`);
    await visitor.click('Export');
    await visitor.page.select('#export select', 'ndjson');
    await visitor.click('Save all lines');
    await visitor.sees(/Complete\. [\d.]+ KiB/);
    const written = String(await visitor.page.evaluate('written'));
    const exported = written.trimEnd().split('\n');
    expect(exported).to.have.length(SLOW);
    for (const each of exported) expect(each).to.include('slow posting').and.to.include(NAMESPACE);
  });

  it('keeps at most 10,000 lines, and shows the lines before them on request', async () => {
    const count = 10_500;
    const now = Date.now();
    const archive = Array.from({ length: count }, (_, i) => ({
      time: now - (i + 1) * 300,
      text: `entry ${i}`,
    }));
    await writeIn('archive', archive);
    await visitor.open('/explore/logs?last=1h&namespaces=archive');
    await visitor.sees('10,500 lines');
    await visitor.page.evaluate(`(async () => {
      const older = () => document.querySelector('button.older');
      while (older()) {
        if (!older().disabled) older().click();
        await new Promise(requestAnimationFrame);
      }
    })()`);
    await visitor.sees('These are the newest 10,000 lines');
    const shown = await lines();
    expect(shown).to.have.length(10_000);
    expect([shown[0], shown.at(-1)]).to.deep.equal(['entry 9999', 'entry 0']);
    // Those that were never visible have the height of the others, so that the user scrolls to the first one without a jump.
    const blocks = await visitor.page.$$eval('.log-lines ol', (all) => all.map((each) => each.clientHeight));
    expect(new Set(blocks)).to.have.property('size', 1);
    // By a selector: the names of 10,000 lines take long on a busy machine.
    await visitor.page.locator('.log-lines .notice button').click();
    await until(async () => (await lines()).length === 200);
    expect((await lines()).some((each) => each === 'entry 10000')).to.equal(true);
    expect(await lines()).not.to.include('entry 9990');
    await visitor.page.goBack();
    await until(async () => (await lines()).at(-1) === 'entry 0');
  });
});
