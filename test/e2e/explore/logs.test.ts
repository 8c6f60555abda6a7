// Tests of the view of logs in a browser, with the pod logs of a simulated cluster.
import { appendFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { podLogs } from '../../../hack/simulation/kwok.ts';
import { scratchFolder } from '../../support/scratch.ts';
import { until } from '../../support/until.ts';
import { sharedExplore, USERS } from './shared-explore.ts';
import type { Visitor } from './visitor.ts';

describe('the view of logs of /explore', () => {
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

  const open = async (query: string, user: string = USERS.viewer): Promise<void> => {
    await visitor.signIn(user, `/explore/logs?${query}`);
    await visitor.sees(/\d lines?/);
  };
  const texts = (selector: string, page = visitor.page): Promise<string[]> =>
    page.$$eval(selector, (elements) => elements.map((element) => element.textContent ?? ''));
  const lines = (page = visitor.page): Promise<string[]> => texts('.log-content', page);
  const address = async (): Promise<URLSearchParams> => (await visitor.address()).searchParams;
  /** Appends lines to the log of the carts in the namespace shop. */
  const write = async (...messages: string[]): Promise<void> => {
    const time = new Date().toISOString().replace('Z', '000000Z');
    const file = join(podLogs(shared.platform.controlPlane.folder), 'cart.log');
    await appendFile(file, messages.map((message) => `${time} stdout F ${message}\n`).join(''));
  };

  for (const [title, minutes] of [
    ['fast', 10],
    ['slow', -10],
  ] as const) {
    it(`shows the last minutes by the clock of the server in a browser whose clock is ${title}`, async () => {
      await visitor.page.evaluateOnNewDocument(`{
        const ServerDate = Date;
        const now = () => ServerDate.now() + ${minutes} * 60_000;
        globalThis.Date = class extends ServerDate {
          constructor(...given) { super(...(given.length > 0 ? given : [now()])); }
          static now() { return now(); }
        };
      }`);
      await write(`written with a ${title} clock`);
      await open('last=5m&namespaces=shop');
      await visitor.sees(`written with a ${title} clock`);
    });
  }

  it('filters by text, level and names, marks the matches, and a link reproduces it', async () => {
    await open('last=6h');
    await visitor.page.type('.logs [type=search]', 'slow');
    const showOnly = (text: string): Promise<unknown> =>
      until(async () => {
        const all = await lines();
        return all.length > 0 && all.every((line) => line.includes(text));
      });
    await showOnly('slow');
    expect(new Set(await texts('.log-content mark'))).to.deep.equal(new Set(['slow']));
    await visitor.click('Match case');
    await visitor.page.click('[aria-label=Level] button:nth-of-type(3)');
    const names = await visitor.page.$('.field:nth-child(2) input');
    await names?.focus();
    await visitor.page.waitForSelector('option[value=checkout]');
    await names?.type('checkout');
    await visitor.page.keyboard.press('Enter');
    await showOnly('payment provider is slow');
    // No pod has one of these names.
    await visitor.page.type('.field:nth-child(3) input', 'checkout-, cart-');
    await visitor.page.keyboard.press('Enter');
    await until(async () => (await address()).has('pod_query'));
    await visitor.sees(/\d lines?/);
    await showOnly('payment provider is slow');
    expect(Object.fromEntries(await address())).to.deep.equal({
      last: '6h',
      log_query: 'slow',
      case: 'respect',
      level: 'warn',
      workloads: 'checkout',
      pod_query: 'checkout-,cart-',
    });

    const context = visitor.page.browserContext();
    await context.overridePermissions(shared.platform.server.url, [
      'clipboard-read',
      'clipboard-write',
      'clipboard-sanitized-write',
    ]);
    await visitor.click('Copy link');
    await visitor.sees('Copied');
    const link = String(await visitor.page.evaluate('navigator.clipboard.readText()'));
    expect(link).to.match(/start_time=\d+&end_time=\d+/);
    const other = await visitor.tab();
    await visitor.open(link, other);
    await visitor.sees(/\d lines?/, other);
    expect(await lines(other)).to.deep.equal(await lines());
  });

  it('shows errors of the server at their field', async () => {
    await visitor.signIn(USERS.viewer, '/explore/logs?match=regex&log_query=a(');
    await until(async () => (await texts('#text-error')).join('').includes('missing closing'));
    // The browser logs both responses with 400.
    expect(visitor.complaints.splice(0)).to.satisfy((all: string[]) =>
      all.every((each) => each.includes('400')),
    );
  });

  it('zooms with the histogram by mouse and by keyboard, and back', async () => {
    await open('last=6h&namespaces=shop');
    await visitor.sees(/Peak: [\d,]+ at [\d-]* ?\d\d:\d\d:\d\d/);
    const box = await (await visitor.page.waitForSelector('.histogram-bars'))?.boundingBox();
    const { x, y, width } = box ?? { x: 0, y: 0, width: 0 };
    await visitor.page.mouse.move(x + width * 0.75, y + 20);
    await visitor.page.mouse.down();
    await visitor.page.mouse.move(x + width * 0.9, y + 20);
    await visitor.page.mouse.up();
    await until(async () => (await address()).has('start_time'));
    const spanOf = (query: URLSearchParams): number =>
      Number(query.get('end_time')) - Number(query.get('start_time'));
    const zoomed = await address();
    const span = spanOf(zoomed);
    expect(span).to.be.within(3_000, 3_600);
    await visitor.sees(/\d lines?/);

    await visitor.page.waitForSelector('.histogram-bars[aria-label$="intervals of 30s"]');
    await visitor.page.focus('.histogram-bars');
    await visitor.page.keyboard.press('Home');
    const outline = await visitor.page.evaluate(
      `getComputedStyle(document.querySelector('[data-selected="true"]')).outlineStyle`,
    );
    expect(outline).to.equal('solid');
    await visitor.page.keyboard.down('Shift');
    await visitor.page.keyboard.press('ArrowRight');
    await visitor.page.keyboard.up('Shift');
    await until(async () =>
      /^[\d-]* ?\d\d:\d\d:\d\d – .*: /.test((await texts('.histogram output')).join('')),
    );
    await visitor.page.keyboard.press('Enter');
    await until(async () => spanOf(await address()) < span / 10);
    await visitor.page.goBack();
    expect(String(await address())).to.equal(String(zoomed));
    await visitor.page.goBack();
    expect(String(await address())).to.equal('last=6h&namespaces=shop');
  });

  it('follows new lines, keeps them while it is paused, and continues', async () => {
    await open('last=15m&namespaces=shop&follow=true');
    await visitor.sees('Live');
    await write('level=error msg="first new line"');
    await until(async () => (await lines()).some((line) => line.includes('first new line')));
    await visitor.click('Pause');
    await write('second new line', 'third new line');
    await visitor.sees(/[1-9]\d* new lines/);
    expect((await lines()).some((line) => line.includes('second new line'))).to.equal(false);
    await visitor.click('Pause');
    await until(async () => (await lines()).filter((line) => line.includes('third new line')).length > 0);
    // One for each pod.
    await until(async () => {
      const shown = await texts('.log-line .log-source + .log-text');
      return shown.filter((line) => line.includes('first new line')).length === 2;
    });
  });

  it('shows that the tail has lost its connection, and continues without repeated lines', async () => {
    // A browser that is set offline rejects new requests, but does not end the streams that are open.
    await visitor.page.evaluateOnNewDocument(`
      const { fetch } = globalThis;
      globalThis.fetch = async (...request) => {
        const response = await fetch(...request);
        if (!response.headers.get('Content-Type')?.startsWith('text/event-stream')) return response;
        const body = response.body.pipeThrough(new TransformStream({
          start: (controller) => { globalThis.cut = () => controller.error(new TypeError('network error')); },
        }));
        return new Response(body, response);
      };`);
    await open('last=15m&namespaces=shop&follow=true');
    await write('before the outage');
    const count = async (text: string): Promise<number> =>
      (await lines()).filter((line) => line.includes(text)).length;
    await until(async () => (await count('before the outage')) > 1);
    const known = await count('before the outage');
    await visitor.page.setOfflineMode(true);
    await visitor.page.evaluate('cut()');
    await visitor.sees('Not connected');
    await write('during the outage');
    await visitor.page.setOfflineMode(false);
    await until(async () => (await count('during the outage')) === known);
    expect(await count('before the outage')).to.equal(known);
    // The browser logs each request that failed.
    const failures = visitor.complaints.splice(0);
    for (const each of failures) expect(each).to.include('ERR_INTERNET_DISCONNECTED');
  });

  it('shows the fields of a line and the lines around it', async () => {
    await open('last=6h&workloads=cart&log_query=abandoned');
    await visitor.page.focus('.log-lines');
    await visitor.page.keyboard.press('ArrowUp');
    await visitor.page.keyboard.press('Enter');
    await visitor.sees('Only this pod');
    expect(await texts('.log-details dt')).to.include.members(['level', 'msg']);
    await visitor.click('Lines around it');
    await until(async () => (await texts('.log-context li')).length >= 10);
    expect((await texts('.log-context [aria-current]')).join('')).to.include('abandoned');
    expect((await texts('.log-context li')).some((line) => line.includes('item added'))).to.equal(true);
  });

  it('loads older lines', async () => {
    await open('last=6h&namespaces=shop,payments');
    const before = (await lines()).length;
    const button = await visitor.page.waitForSelector('button.older ::-p-text(Load older lines)');
    // Without the scroll of a mouse, which would load them before the click.
    await visitor.page.evaluate((element) => element?.click(), button);
    await until(async () => (await lines()).length > before);
  });

  it('exports to the disk, and says when the file is incomplete', async () => {
    await visitor.acceptFiles();
    await open('last=6h&namespaces=payments');
    await visitor.click('Export');
    await visitor.page.select('#export select', 'ndjson');
    await visitor.click('Save all lines');
    await visitor.sees(/Complete\. [\d.]+ KiB/);
    const written = String(await visitor.page.evaluate('written'))
      .trim()
      .split('\n');
    expect(written.length).to.be.above(100);
    for (const line of written) expect(JSON.parse(line)).to.include({ namespace: 'payments' });

    await visitor.open('/explore/logs?last=6h&workloads=cart-export');
    await visitor.sees(/\d lines?/);
    await visitor.click('Export');
    await visitor.click('Save all lines');
    await visitor.sees(/The file is incomplete: .*earlier restarts were deleted/);
  });

  it('exports as a download in browsers without access to the disk', async () => {
    await using folder = await scratchFolder();
    await visitor.page.evaluateOnNewDocument(
      'delete Window.prototype.showSaveFilePicker; delete globalThis.showSaveFilePicker;',
    );
    await open('last=6h&namespaces=payments');
    const tools = await visitor.page.browser().target().createCDPSession();
    const { id: browserContextId } = visitor.page.browserContext();
    await tools.send('Browser.setDownloadBehavior', {
      ...(browserContextId === undefined ? {} : { browserContextId }),
      behavior: 'allow',
      downloadPath: folder.path,
      eventsEnabled: true,
    });
    const { promise: name, resolve } = Promise.withResolvers<string>();
    tools.on('Browser.downloadWillBegin', ({ suggestedFilename }) => resolve(suggestedFilename));
    const done = new Promise((finish) => {
      tools.on('Browser.downloadProgress', ({ state }) => state === 'completed' && finish(undefined));
    });
    await visitor.click('Export');
    await visitor.click('Save all lines');
    await visitor.sees(/Complete\./);
    expect(await name).to.match(/^logs-.*\.log$/);
    await done;
    expect(await readFile(join(folder.path, await name), 'utf8')).to.include('order placed');
  });

  it('shows hostile lines as text', async () => {
    const title = 'hostile';
    await write(
      `${title} <img src=x onerror="document.title='xss'"><script>document.title='xss'</script>`,
      `${title} \u001b]0;xss\u0007\u001b[31mred\u001b[0m \u001b[2J plain`,
      `${title} \u202egnp.exe\u202c null:\0 \u009b31m javascript:alert(1) \u{e0041}\u3164`,
      `${title} {"<b>x</b>":"<img src=x onerror=document.title='xss'>"}`,
      `${title} ${'x'.repeat(1 << 20)}`,
    );
    await open(`last=15m&workloads=cart&log_query=${title}`);
    await until(async () => (await lines()).length >= 8);
    const shown = (await lines()).join('\n');
    expect(shown)
      .to.include('<img src=x')
      .and.to.include('<U+202E>gnp.exe')
      .and.to.include('null:␀')
      .and.to.include('<U+E0041><U+3164>')
      .and.to.include('␇red ␛[2J plain');
    expect(shown).to.include('more characters');
    await visitor.page.evaluate(
      `for (const button of document.querySelectorAll('.log-time')) button.click()`,
    );
    await visitor.sees('Only this pod');
    expect(
      await visitor.page.$$('.log-lines img, .log-lines script, .log-lines b, .log-lines iframe'),
    ).to.deep.equal([]);
    expect(await visitor.page.title()).to.not.include('xss');
    expect(await visitor.accessibilityProblems()).to.deep.equal([]);
  });

  it('shows a tenant the namespaces with the permission, and says which permission is missing', async () => {
    await open('last=6h', USERS.tenant);
    await visitor.sees('get pods/log');
    await visitor.sees(/: payments, shop/);
    const sources = await texts('.log-source');
    expect(sources.some((source) => /^(?:cart|catalog|checkout|invoice)-/.test(source))).to.equal(true);
    expect(sources.every((source) => !/^(?:grafana|prometheus)/.test(source))).to.equal(true);
    await visitor.open('/explore/logs?last=6h&namespaces=monitoring');
    await visitor.sees(
      'You need the permission get pods/log to read logs, and do not have it in monitoring.',
    );
  });

  it('is accessible, at both widths and in both color schemes', async () => {
    await open('last=6h&follow=true&level=error');
    await visitor.page.waitForSelector('.histogram-bars [data-severity]');
    await visitor.click('Export');
    expect(await visitor.accessibilityProblems()).to.deep.equal([]);
  });
});
