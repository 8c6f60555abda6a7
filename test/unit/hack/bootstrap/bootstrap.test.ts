// Tests of hack/bootstrap.mjs, which installs the packages before each npm script.
import { type ChildProcess, spawn } from 'node:child_process';
import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { identify, isRunning } from '../../../../hack/system/process-identity.ts';
import packageManifest from '../../../../package.json' with { type: 'json' };
import { scratchFolderEach } from '../../../support/scratch.ts';
import { until } from '../../../support/until.ts';

const ROOT = join(import.meta.dirname, '../../../..');

describe('the bootstrap', () => {
  const root = scratchFolderEach();
  let dir: string;
  let log: string;

  beforeEach(async () => {
    dir = root();
    log = join(dir, 'npm.log');
    for (const file of ['hack/bootstrap.mjs', 'hack/system/end-with-parent.sh']) {
      await cp(join(ROOT, file), join(dir, file));
    }
    await writeFile(join(dir, 'package.json'), '{"type": "module"}');
    await writeFile(join(dir, 'package-lock.json'), '{"lockfileVersion": 3}');
  });

  it('runs before every npm script', () => {
    const scripts: Readonly<Record<string, string>> = packageManifest.scripts;
    const programs = Object.keys(scripts).filter((name) => /\bhack\/[\w/]+\.ts\b/.test(scripts[name] ?? ''));
    expect(programs).to.include.members(['start', 'test', 'verify', 'fix']);
    const first = (name: string): string | undefined => scripts[`pre${name.replace(/^post/, '')}`];
    expect(
      programs.filter((name) => first(name)?.endsWith('exec node hack/bootstrap.mjs') !== true),
    ).to.deep.equal([]);
  });

  it('is required in one line if npm skips it', async () => {
    await cp(join(ROOT, 'hack/prepared.mjs'), join(dir, 'hack/prepared.mjs'));
    await writeFile(join(dir, 'hack/start.ts'), "console.log('started');\n");
    const start = packageManifest.scripts.start;
    await writeFile(
      join(dir, 'package.json'),
      JSON.stringify({ type: 'module', scripts: { prestart: 'exit 7', start } }),
    );
    const child = spawn('npm', ['--silent', 'start'], {
      cwd: dir,
      env: { PATH: process.env['PATH'], HOME: dir, npm_config_ignore_scripts: 'true' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const { code, lines } = await end(child);
    expect(lines).to.have.length(1);
    expect(lines[0]).to.match(/^Node 24 .* Unset npm_config_ignore_scripts or omit --ignore-scripts,/);
    expect(code).to.equal(1);
    expect(Object.values(packageManifest.scripts).filter((script) => /\.ts\b/.test(script)))
      .to.have.length.above(5)
      .and.satisfy((scripts: string[]) =>
        scripts.every((script) => script.startsWith('exec node --import ./hack/prepared.mjs ')),
      );
  });

  function start(env: NodeJS.ProcessEnv = {}, nodeArgs: string[] = []): ChildProcess {
    return spawn(process.execPath, [...nodeArgs, join(dir, 'hack/bootstrap.mjs')], {
      cwd: dir,
      env: {
        PATH: process.env['PATH'],
        npm_execpath: join(import.meta.dirname, 'npm-cli.js'),
        NPM_LOG: log,
        ...env,
      },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
  }

  async function end(child: ChildProcess): Promise<{ code: number | null; lines: string[] }> {
    let text = '';
    child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    const code = await new Promise<number | null>((resolve) => {
      child.once('close', resolve);
    });
    return { code, lines: text.trim().split('\n') };
  }

  async function installations(): Promise<string[]> {
    const text = await readFile(log, 'utf8').catch(() => '');
    return text.split('\n').filter((line) => line !== '');
  }

  it('installs the locked dependencies once', async () => {
    expect((await end(start())).code).to.equal(0);
    expect((await end(start())).code).to.equal(0);
    const [first, ...more] = await installations();
    expect(first).to.match(/^ci .*--ignore-scripts/);
    expect(more).to.deep.equal([]);
  });

  it('installs again when the lock file has changed', async () => {
    await end(start());
    await writeFile(join(dir, 'package-lock.json'), '{"lockfileVersion": 3, "packages": {}}');
    await end(start());
    expect(await installations()).to.have.length(2);
  });

  it('installs once for two concurrent starts', async () => {
    const ends = await Promise.all([end(start()), end(start())]);
    expect(ends.map(({ code }) => code)).to.deep.equal([0, 0]);
    expect(await installations()).to.have.length(1);
  });

  it('reports a failed installation in one line, and retries at the next start', async () => {
    const { code, lines } = await end(start({ NPM_EXIT: '7' }));
    expect(code).to.equal(1);
    expect(lines.at(-1)).to.match(/^npm ci failed \(7\).*try again\.$/);
    expect((await end(start())).code).to.equal(0);
    expect(await installations()).to.have.length(2);
  });

  for (const [what, env, node, message] of [
    ['npm is missing', { npm_execpath: '', PATH: '/nowhere' }, undefined, /^npm was not found: install it/],
    [
      'npm is too old',
      { NPM_VERSION: '6.14.18' },
      undefined,
      /^npm 6\.14\.18 is too old: install npm 7 or newer/,
    ],
    ['Node is too old', {}, '18.19.0', /^Node 18\.19\.0 is too old: install Node 20 or newer/],
    [
      'no Node fits this system',
      {},
      '22.1.0',
      /^No Node 24 is packaged for this system.*install Node 24\.12 or newer/,
    ],
  ] as const) {
    it(`reports in one line that ${what}`, async () => {
      const pretend = `Object.defineProperty(process.versions, "node", {value: "${node}"})`;
      const imported = ['--import', `data:text/javascript,${encodeURIComponent(pretend)}`];
      const { code, lines } = await end(start(env, node === undefined ? [] : imported));
      expect(code).to.equal(1);
      expect(lines.at(-1)).to.match(message);
      // Before the last case, npm itself reports the installation.
      if (node !== '22.1.0') expect(lines).to.have.length(1);
    });
  }

  for (const [signal, expected] of [
    ['SIGINT', 130],
    ['SIGKILL', null],
  ] as const) {
    it(`ends the installation with everything below it on ${signal}`, async () => {
      const child = start({ NPM_HANGS: '1' });
      const ended = end(child);
      await until(async () => (await installations()).length > 0);
      const [pid] = await installations();
      const grandchild = identify(Number(pid));
      if (grandchild === undefined) throw new Error('nothing is being installed');
      child.kill(signal);
      expect((await ended).code).to.equal(expected);
      // The signal goes to the whole group; the grandchild may exit a little later.
      await until(() => !isRunning(grandchild));
    });
  }
});
