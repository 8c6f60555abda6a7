// A user of the page `/explore` in a browser, at a server without sign-in: the user pastes a token.
import type { Browser, BrowserContext, Page } from 'puppeteer-core';

/** What the views show when they have their data. */
const CONTENT = { overview: '#view .kinds li', list: '#view nav[aria-label=Pages]' } as const;
export type View = keyof typeof CONTENT;

const TIMEOUT_MS = 120_000;

interface Paint {
  /** From the navigation to the first content, with an empty cache, in ms. */
  readonly firstMs: number;
  /** From the token to the content of the view, in ms. */
  readonly contentMs: number;
}

export class ExploreVisitor implements AsyncDisposable {
  readonly #context: BrowserContext;
  readonly #page: Page;
  readonly paint: Paint;

  private constructor(context: BrowserContext, page: Page, paint: Paint) {
    this.#context = context;
    this.#page = page;
    this.paint = paint;
  }

  /** Opens a view with an empty cache and connections of its own. Resolves when the view has its content. */
  static async open(browser: Browser, url: string, token: string, view: View): Promise<ExploreVisitor> {
    const context = await browser.createBrowserContext();
    try {
      const page = await context.newPage();
      page.setDefaultTimeout(TIMEOUT_MS);
      await page.goto(url);
      await page.locator('#token').fill(token);
      const firstMs = Number(
        await page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime"),
      );
      const contentMs = Number(await page.evaluate(contentAfterSubmit(CONTENT[view])));
      return new ExploreVisitor(context, page, { firstMs, contentMs });
    } catch (error) {
      await context.close();
      throw error;
    }
  }

  /** Size of the JavaScript heap after a garbage collection, in bytes. */
  async heapBytes(): Promise<number> {
    const tools = await this.#page.createCDPSession();
    await tools.send('HeapProfiler.collectGarbage');
    const { JSHeapUsedSize = Number.NaN } = await this.#page.metrics();
    return JSHeapUsedSize;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#context.close();
  }
}

/** Script that submits the token, and resolves with the time until the frame in which the element exists. */
function contentAfterSubmit(selector: string): string {
  return `new Promise((resolve) => {
    const began = performance.now();
    const check = () =>
      document.querySelector('${selector}') ? resolve(performance.now() - began) : requestAnimationFrame(check);
    document.querySelector('form').requestSubmit();
    check();
  })`;
}
