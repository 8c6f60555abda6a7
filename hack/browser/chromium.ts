// Starts a headless Chromium for tests and the bench. The build cache stores the unpacked program.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import chromium, { inflate } from '@sparticuz/chromium';
import { type Browser, launch } from 'puppeteer-core';
import { hashOfInputs, provide } from '../artifacts/artifact.ts';

const PACKAGE = fileURLToPath(new URL('..', import.meta.resolve('@sparticuz/chromium')));

export interface StartedChromium extends AsyncDisposable {
  readonly browser: Browser;
}

/** `args`: further flags. */
export async function startChromium(args: readonly string[] = []): Promise<StartedChromium> {
  const program = await unpacked();
  const directory = await mkdtemp(join(tmpdir(), 'chromium-'));
  // Libraries of the package that machines without a desktop may lack.
  const libraries = join(program, 'al2023', 'lib');
  const env = { ...process.env, TMPDIR: directory, LD_LIBRARY_PATH: libraries };
  const remove = (): Promise<void> => rm(directory, { recursive: true, force: true, maxRetries: 5 });
  try {
    const browser = await launch({
      executablePath: join(program, 'chromium'),
      env,
      headless: 'shell',
      // The sandbox needs permissions that containers rarely have; the pages are trusted.
      args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-pings', ...args],
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

/** Returns the folder of the program, which takes seconds to unpack. */
async function unpacked(): Promise<string> {
  const hash = await hashOfInputs({ folder: PACKAGE, files: ['package.json'], settings: [] });
  return provide(
    { title: 'Chromium', name: `chromium-${hash}`, make: unpackInto },
    { env: process.env, signal: AbortSignal.timeout(120_000), progress: () => undefined },
  );
}

/** The package reads the target folder only from its environment. */
async function unpackInto(directory: string): Promise<void> {
  const before = process.env['TMPDIR'];
  process.env['TMPDIR'] = directory;
  try {
    await inflate(join(PACKAGE, 'bin/al2023.tar.br'));
    await chromium.executablePath();
  } finally {
    if (before === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = before;
  }
}
