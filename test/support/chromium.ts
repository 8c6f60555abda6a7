// Starts a headless Chromium for tests, unpacked into a temporary folder.
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
  // Libraries of the package that machines without a desktop may lack.
  const libraries = join(directory, 'al2023', 'lib');
  const env = { ...process.env, TMPDIR: directory, LD_LIBRARY_PATH: libraries };
  const remove = (): Promise<void> => rm(directory, { recursive: true, force: true, maxRetries: 5 });
  try {
    const executablePath = await unpackInto(directory);
    const browser = await launch({
      executablePath,
      env,
      headless: 'shell',
      // The sandbox needs permissions that containers rarely have; the pages are trusted.
      args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-pings'],
      userDataDir: join(directory, 'profile'),
      acceptInsecureCerts: true,
      // The first start on a busy machine may take longer than the default of half a minute.
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

/** The package reads the target folder only from its environment. */
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
