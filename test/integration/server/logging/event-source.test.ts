// Tests of a live tail that an EventSource in Chromium reads.
import { expect } from 'chai';
import { type StartedChromium, startChromium } from '../../../../hack/browser/chromium.ts';
import { LOGS, LogService, line } from '../../../support/logging/log-service.ts';
import { MemoryLogStore } from '../../../support/logging/memory-log-store.ts';

/** Script of the page: records the lines, connects and errors of an EventSource. */
const FOLLOWED = `
  const messages = [];
  const source = new EventSource(${JSON.stringify(`${LOGS}?follow=true`)});
  source.onmessage = ({ data }) => messages.push(JSON.parse(data).log);
  source.onopen = () => messages.push('(open)');
  source.onerror = () => messages.push('(error)');
`;

describe('a live tail in Chromium', () => {
  let chromium: StartedChromium;
  let service: LogService;
  before(async () => {
    chromium = await startChromium();
  });
  after(async () => {
    await service?.stop();
    await chromium?.[Symbol.asyncDispose]();
  });

  it('delivers a line that is written while an EventSource that has received no line reconnects', async () => {
    const store = new MemoryLogStore([]);
    service = await new LogService({ store, limits: { followTimeout: 1_000 }, now: Date.now }).start();
    const page = await chromium.browser.newPage();
    await page.goto(`http://127.0.0.1:${service.server.port}${LOGS}?size=0`);
    await page.addScriptTag({ content: FOLLOWED });
    // Compares the first messages only, because the connection can end again.
    const seen = async (...expected: string[]): Promise<void> => {
      await page.waitForFunction(`messages.length >= ${expected.length}`);
      expect(await page.evaluate(`messages.slice(0, ${expected.length})`)).to.deep.equal(expected);
    };
    await seen('(open)', '(error)');
    store.write([line(new Date().toISOString().replace('Z', '000000Z'), 'during the reconnect')]);
    await seen('(open)', '(error)', '(open)', 'during the reconnect');
  });
});
