// Tests of the charts in Chromium: well-formed XML, and texts that neither overlap nor leave the picture.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Page } from 'puppeteer-core';
import { type StartedChromium, startChromium } from '../../../../hack/browser/chromium.ts';
import { chart } from '../../../../hack/soak/chart.ts';
import { reportOf } from '../../../../hack/soak/report.ts';
import { type Sample, SERIES, type Series } from '../../../../hack/soak/samples.ts';

const CHARTS = join(import.meta.dirname, '../../../../hack/bench/charts');
const HOUR_S = 3600;

function soakReport() {
  const sample = (at: number): Sample =>
    Object.fromEntries((Object.keys(SERIES) as Series[]).map((name) => [name, 100 + at / 20])) as Sample;
  const windows = Array.from({ length: HOUR_S / 10 }, (_, i) => ({
    at: i * 10,
    samples: new Map(['pod logs', 'victorialogs'].map((name) => [name, sample(i * 10)])),
    latencies: new Map([['pod logs: first console list of a new kind', [i % 7, 40]]]),
  }));
  return reportOf({ date: '', seconds: HOUR_S, windows, errors: [], cores: new Map() }, []);
}

interface Box {
  readonly text: string;
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** The box of a text contains the space above its capitals and below its baseline. */
const LEADING = 4;

function overlap(one: Box, other: Box): boolean {
  const width = Math.min(one.right, other.right) - Math.max(one.left, other.left);
  const height = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
  return width > 0 && height > LEADING;
}

describe('a chart', () => {
  let chromium: StartedChromium;
  let page: Page;
  before(async () => {
    chromium = await startChromium();
    page = await chromium.browser.newPage();
  });
  after(() => chromium[Symbol.asyncDispose]());

  async function open(svg: string): Promise<void> {
    await page.goto(`data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`);
    expect(await page.$$('parsererror')).to.deep.equal([]);
  }

  /** Pairs of texts that overlap, and texts outside the picture. */
  async function misplaced(): Promise<string[]> {
    const [frame, ...texts] = await page.$$eval('rect.ground, text', (found) =>
      found.map((each): Box => {
        const { left, top, right, bottom } = each.getBoundingClientRect();
        return { text: String(each.textContent), left, top, right, bottom };
      }),
    );
    if (frame === undefined || texts.length === 0) throw new Error('the chart is empty');
    const pairs = texts.flatMap((one, i) =>
      texts
        .slice(i + 1)
        .filter((other) => overlap(one, other))
        .map((other) => `${one.text} | ${other.text}`),
    );
    const outside = texts.filter(
      ({ left, top, right, bottom }) =>
        left < frame.left || top < frame.top || right > frame.right || bottom > frame.bottom,
    );
    return [...pairs, ...outside.map(({ text }) => `outside: ${text}`)];
  }

  it('of the bench has labels that do not overlap', async () => {
    const names = await readdir(CHARTS);
    expect(names).to.include('overview.svg');
    for (const name of names) {
      await open(await readFile(join(CHARTS, name), 'utf8'));
      expect(await misplaced(), name).to.deep.equal([]);
    }
  });

  it('of the soak test has labels that do not overlap, and says which series grow', async () => {
    await open(chart(soakReport()));
    expect(await misplaced()).to.deep.equal([]);
    const titles = await page.$$eval('g > title', (all) => all.map(({ textContent }) => textContent));
    expect(titles.filter((title) => title.includes('✗ GROWING'))).to.not.have.length(0);
    expect(titles).to.have.length(Object.keys(SERIES).length + 1);
  });

  it('has a title, a description, and other colours in a dark scheme', async () => {
    await open(await readFile(join(CHARTS, 'overview.svg'), 'utf8'));
    const colours = async (scheme: string): Promise<string[]> => {
      await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
      const fills = `[...document.querySelectorAll('.ground, .title')].map((each) => getComputedStyle(each).fill)`;
      return (await page.evaluate(fills)) as string[];
    };
    expect(await colours('light')).to.deep.equal(['rgb(255, 255, 255)', 'rgb(31, 35, 40)']);
    expect(await colours('dark')).to.deep.equal(['rgb(13, 17, 23)', 'rgb(240, 246, 252)']);
    const tree = await page.accessibility.snapshot({ interestingOnly: false });
    expect(JSON.stringify(tree)).to.contain('Speed compared with kube-apiserver');
  });
});
