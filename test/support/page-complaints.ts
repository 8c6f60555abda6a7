import type { Page } from 'puppeteer-core';

/** A warning or an error that the browser itself logged. */
interface PageComplaint {
  /** For example 'network' or 'security'. */
  readonly source: string;
  readonly text: string;
  /** The address of the resource; empty without one. */
  readonly url: string;
}

/**
 * Calls `onComplaint` for each warning and error that the browser logs about the page, for instance violations of
 * the Content Security Policy. Hints are left out: a visitor may move the focus before the page does.
 */
export async function observeComplaints(
  page: Page,
  onComplaint: (complaint: PageComplaint) => void,
): Promise<void> {
  const tools = await page.createCDPSession();
  tools.on('Log.entryAdded', ({ entry: { source, level, text, url = '' } }) => {
    if (level === 'error' || level === 'warning') onComplaint({ source, text, url });
  });
  await tools.send('Log.enable');
}
