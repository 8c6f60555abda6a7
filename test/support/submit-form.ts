// Fills and submits a form in a browser, for tests of the sign-in pages.
import type { Page } from 'puppeteer-core';

/** Fills the fields by their IDs, and submits the form with the keyboard. */
export async function submitForm(page: Page, fields: Readonly<Record<string, string>>): Promise<void> {
  for (const [id, text] of Object.entries(fields)) {
    await page.focus(`#${id}`);
    await page.keyboard.type(text);
  }
  await Promise.all([page.waitForNavigation(), page.keyboard.press('Enter')]);
}
