// Checks the accessibility of an HTML page with axe-core.
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Page } from 'puppeteer-core';

const AXE = readFile(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');
/** WCAG 2.2, levels A and AA, and what axe-core recommends beside it. */
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

interface Violation {
  readonly id: string;
  readonly help: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

/** What is wrong with a page on narrow and wide screens, in both color schemes; one line each. */
export async function accessibilityProblems(page: Page): Promise<string[]> {
  const problems: string[] = [];
  for (const width of [375, 1280]) {
    await page.setViewport({ width, height: 800 });
    const scrolled = Number(await page.evaluate('document.documentElement.scrollWidth'));
    if (scrolled > width) problems.push(`${width} px: the page is ${scrolled} px wide`);
    for (const scheme of ['light', 'dark']) {
      await page.emulateMediaFeatures([
        { name: 'prefers-color-scheme', value: scheme },
        // Otherwise a color can be measured between those of two schemes.
        { name: 'prefers-reduced-motion', value: 'reduce' },
      ]);
      // Only colors depend on the scheme.
      const found = await violations(page, scheme === 'dark' ? ['color-contrast'] : undefined);
      problems.push(...found.map((violation) => `${width} px, ${scheme}: ${violation}`));
    }
  }
  return problems;
}

/** `rules`: ids of rules; by default all. */
async function violations(page: Page, rules: readonly string[] | undefined): Promise<string[]> {
  if ((await page.evaluate('typeof axe')) === 'undefined') await page.evaluate(await AXE);
  const runOnly = rules ? { type: 'rule', values: rules } : { type: 'tag', values: TAGS };
  const options = JSON.stringify({ runOnly, resultTypes: ['violations'] });
  const found = await page.evaluate(`axe.run(document, ${options}).then(({ violations }) => violations)`);
  return (found as readonly Violation[]).flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${help}: ${html} (${failureSummary})`),
  );
}
