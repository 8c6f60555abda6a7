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

/** The violations on a page, one line each. `rules`: ids of rules; by default all. */
export async function accessibilityViolations(page: Page, rules?: readonly string[]): Promise<string[]> {
  if ((await page.evaluate('typeof axe')) === 'undefined') await page.evaluate(await AXE);
  const runOnly = rules ? { type: 'rule', values: rules } : { type: 'tag', values: TAGS };
  const options = JSON.stringify({ runOnly, resultTypes: ['violations'] });
  const found = await page.evaluate(`axe.run(document, ${options}).then(({ violations }) => violations)`);
  return (found as readonly Violation[]).flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${help}: ${html} (${failureSummary})`),
  );
}
