// A real Chromium without a window. It unpacks itself into a folder of its own, which is gone afterwards.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import chromium, { inflate } from '@sparticuz/chromium';
import { type Browser, launch } from 'puppeteer-core';

export interface StartedChromium extends AsyncDisposable {
  readonly browser: Browser;
}

export async function startChromium(): Promise<StartedChromium> {
  const directory = await mkdtemp(join(tmpdir(), 'chromium-'));
  // Libraries that a machine without a desktop may lack; they come with the package.
  const libraries = join(directory, 'al2023', 'lib');
  const env = { ...process.env, TMPDIR: directory, LD_LIBRARY_PATH: libraries };
  const remove = (): Promise<void> => rm(directory, { recursive: true, force: true, maxRetries: 5 });
  try {
    const executablePath = await unpackInto(directory);
    const browser = await launch({
      executablePath,
      env,
      headless: 'shell',
      // The sandbox wants rights that a container seldom gives; the pages are ours.
      args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-pings'],
      userDataDir: join(directory, 'profile'),
      acceptInsecureCerts: true,
      // Its first start on a busy machine may take longer than the half minute that it has by default.
      timeout: 90_000,
    });
    return {
      browser,
      [Symbol.asyncDispose]: async () => {
        await browser.close();
        await remove();
      },
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** The package knows no other way to be told where. */
async function unpackInto(directory: string): Promise<string> {
  const before = process.env['TMPDIR'];
  process.env['TMPDIR'] = directory;
  try {
    await inflate(fileURLToPath(new URL('../bin/al2023.tar.br', import.meta.resolve('@sparticuz/chromium'))));
    return await chromium.executablePath();
  } finally {
    if (before === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = before;
  }
}
