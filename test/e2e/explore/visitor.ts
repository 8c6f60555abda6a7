// A visitor of the page `/explore`: one browser without cookies and storage, and what a user does in it.
import type { Browser, BrowserContext, Page } from 'puppeteer-core';
import { accessibilityProblems } from '../../support/accessibility.ts';
import { observeComplaints } from '../../support/page-complaints.ts';
import { submitForm } from '../../support/submit-form.ts';
import { until } from '../../support/until.ts';

/** Widths of the screens that the page must fit, in pixels. */
const WIDTHS = [375, 1920];

interface VisitorOptions {
  /** Address of the server. */
  readonly server: string;
  readonly password: string;
  readonly proxy?: string | undefined;
}

export class Visitor {
  readonly #context: BrowserContext;
  readonly #server: string;
  readonly #password: string;
  readonly page: Page;
  /** Violations of the Content Security Policy and errors of scripts, in all tabs. Responses with an error are none. */
  readonly complaints: string[] = [];

  private constructor(context: BrowserContext, page: Page, { server, password }: VisitorOptions) {
    this.#context = context;
    this.page = page;
    this.#server = server;
    this.#password = password;
  }

  static async start(browser: Browser, options: VisitorOptions): Promise<Visitor> {
    const { proxy } = options;
    const context = await browser.createBrowserContext(
      // By default, no proxy is used for loopback addresses.
      proxy === undefined ? {} : { proxyServer: proxy, proxyBypassList: ['<-loopback>'] },
    );
    const page = await context.newPage();
    const visitor = new Visitor(context, page, options);
    await visitor.#observe(page);
    return visitor;
  }

  /** Another tab of the same browser. */
  async tab(): Promise<Page> {
    const page = await this.#context.newPage();
    await this.#observe(page);
    return page;
  }

  async #observe(page: Page): Promise<void> {
    // Less than the timeout of a test, so that an error names what it waits for.
    page.setDefaultTimeout(30_000);
    await page.setViewport({ width: 1280, height: 800 });
    page.on('pageerror', (error) => this.complaints.push(String(error)));
    await observeComplaints(page, ({ source, text, url }) => {
      if (source !== 'network') this.complaints.push(`${text} ${url}`);
    });
  }

  /** `path`: below the address of the server. */
  async open(path: string, page = this.page): Promise<void> {
    await page.goto(new URL(path, this.#server).href);
  }

  /** Opens a view, and signs in on the page to which it leads. Resolves when the view has a heading. */
  async signIn(user: string, path = '/explore'): Promise<void> {
    await this.open(path);
    await this.page.waitForSelector('#password');
    await submitForm(this.page, { username: user, password: this.#password });
    await this.heading();
  }

  /** The address that the page has now. The browser reports a change to the test later than the page shows it. */
  async address(page = this.page): Promise<URL> {
    return new URL(String(await page.evaluate('location.href')));
  }

  /** The heading of the view. */
  async heading(page = this.page): Promise<string> {
    const heading = await page.waitForSelector('#view h1');
    return String(await heading?.evaluate((element) => element.textContent));
  }

  /** The visible text of an element. */
  text(selector = 'body', page = this.page): Promise<string> {
    return page.$eval(selector, (element) => String(Reflect.get(element, 'innerText')));
  }

  /** Resolves when the visible text of the page contains `text`. */
  async sees(text: string | RegExp, page = this.page): Promise<void> {
    await until(async () => {
      const shown = await this.text('body', page).catch(() => '');
      return typeof text === 'string' ? shown.includes(text) : text.test(shown);
    });
  }

  /** Gives the pages that open after it a dialog for files: a headless browser has none. The variable `written` has the content. */
  async acceptFiles(): Promise<void> {
    await this.page.evaluateOnNewDocument(`
      globalThis.written = '';
      globalThis.showSaveFilePicker = async () => ({
        createWritable: async () => new WritableStream({
          write: (bytes) => { globalThis.written += new TextDecoder().decode(bytes); },
        }),
      });`);
  }

  /** Clicks the button, link or summary with this accessible name. */
  async click(name: string, page = this.page): Promise<void> {
    await page.locator(`::-p-aria(${name})`).click();
  }

  /** Follows the link with the keyboard. A click can miss a link that moves while the view loads. */
  async follow(selector: string): Promise<void> {
    const element = await this.page.waitForSelector(selector);
    await element?.press('Enter');
  }

  /** What axe-core finds in both color schemes, and widths at which the page scrolls sideways. */
  async accessibilityProblems(page = this.page): Promise<string[]> {
    const problems = await accessibilityProblems(page);
    for (const width of WIDTHS) {
      await page.setViewport({ width, height: 900 });
      const scrolled = Number(await page.evaluate('document.documentElement.scrollWidth'));
      if (scrolled > width) problems.push(`${width} px: the page is ${scrolled} px wide`);
    }
    return problems;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#context.close();
  }
}
