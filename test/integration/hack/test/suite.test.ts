// Tests of the stage of `npm test` that runs a mocha suite, with the test files in fixtures/.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, watch } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import type { Progress } from '../../../../hack/terminal/progress.ts';
import { byEnvironment, type Grouping, together } from '../../../../hack/test/groups.ts';
import { Jobs } from '../../../../hack/test/jobs.ts';
import { endLeftovers } from '../../../../hack/test/leftovers.ts';
import type { StageResult } from '../../../../hack/test/stage.ts';
import { suite } from '../../../../hack/test/suite.ts';
import { until } from '../../../support/until.ts';

const root = fileURLToPath(new URL('../../../../', import.meta.url));
const { TEST_RECORD: _ownRecord, ...env } = process.env;

interface Run {
  fixture: string;
  groups?: Grouping;
  strict?: boolean;
  grep?: string;
  progress?: Progress;
}

/** Runs mocha on a passing file and the fixture, without output. */
async function run({
  fixture,
  groups = together,
  strict = false,
  grep,
  progress,
}: Run): Promise<StageResult> {
  const stage = suite({
    name: 'fixture',
    files: [`test/integration/hack/test/fixtures/{green,${fixture}}.fixture.ts`],
    jobs: new Jobs(2),
    groups,
    timeout: 60_000,
    grep,
    strict,
  });
  return stage.run({
    root,
    env,
    signal: new AbortController().signal,
    progress: progress ?? (() => {}),
    lastStarted: () => {},
  });
}

describe('a suite of npm test', () => {
  it('counts passed tests', async () => {
    const { tally, problems } = await run({ fixture: 'green' });
    expect(tally).to.deep.equal({ passed: 1, failed: 0, skipped: 0 });
    expect(problems).to.deep.equal([]);
  });

  it('counts skipped tests, as failed if strict', async () => {
    const { tally: skipped } = await run({ fixture: 'skipped' });
    expect(skipped).to.deep.equal({ passed: 2, failed: 0, skipped: 2 });
    const { tally } = await run({ fixture: 'skipped', strict: true });
    expect(tally.failed).to.equal(2);
  });

  it('fails when no file matches', async () => {
    const stage = suite({
      name: 'none',
      files: ['test/no-such-folder/*.test.ts'],
      groups: together,
      jobs: new Jobs(1),
      timeout: 1,
      grep: undefined,
      strict: false,
    });
    const { tally } = await stage.run({
      root,
      env,
      signal: new AbortController().signal,
      progress: () => {},
      lastStarted: () => {},
    });
    expect(tally).to.deep.equal({ passed: 0, failed: 1, skipped: 0 });
  });

  it('fails when a prerequisite is missing', async () => {
    const stage = suite({
      name: 'fixture',
      files: ['test/integration/hack/test/fixtures/green.fixture.ts'],
      groups: together,
      jobs: new Jobs(1),
      timeout: 1,
      grep: undefined,
      strict: false,
      prepare: () => Promise.reject(new Error('Go is missing')),
    });
    const { problems } = await stage.run({
      root,
      env,
      signal: new AbortController().signal,
      progress: () => {},
      lastStarted: () => {},
    });
    expect(problems).to.deep.equal(['Go is missing']);
  });

  it('stops its test run when aborted', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'ks-endless-'));
    const controller = new AbortController();
    const watcher = watch(folder, () => controller.abort(new Error('stopped')));
    const stage = suite({
      name: 'fixture',
      files: ['test/integration/hack/test/fixtures/endless.fixture.ts'],
      groups: together,
      jobs: new Jobs(1),
      timeout: 60_000,
      grep: undefined,
      strict: false,
    });
    const outcome = await stage
      .run({
        root,
        env: { ...env, STARTED: join(folder, 'started') },
        signal: controller.signal,
        progress: () => {},
        lastStarted: () => {},
      })
      .catch((error: unknown) => error);
    watcher.close();
    await rm(folder, { recursive: true });
    expect(outcome).to.be.an('error').with.property('message', 'stopped');
  });

  it('leaves no test run behind when killed', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'ks-endless-'));
    const started = join(folder, 'started');
    const runner = spawn(process.execPath, [join(import.meta.dirname, 'endless-suite.ts')], {
      env: { ...env, STARTED: started, TMPDIR: folder },
      stdio: 'ignore',
    });
    await until(() => existsSync(started));
    runner.kill('SIGKILL');
    await once(runner, 'exit');
    expect(await endLeftovers(`STARTED=${started}`)).to.deep.equal([]);
    await rm(folder, { recursive: true });
  });

  for (const [how, groups] of [
    ['in one process', together],
    ['in two processes', byEnvironment],
  ] as const) {
    it(`fails when a test fails ${how}, and names the test, its file and its error`, async () => {
      const { tally, problems } = await run({ fixture: 'red', groups });
      expect(tally.failed).to.equal(1);
      expect(problems).to.have.length(1);
      expect(problems[0]?.split('\n').slice(0, 3)).to.deep.equal([
        'fails',
        '  test/integration/hack/test/fixtures/red.fixture.ts',
        '  Error: as it should',
      ]);
    });
  }

  it('fails when a file contains no test', async () => {
    const { problems } = await run({ fixture: 'empty' });
    expect(problems).to.deep.equal([
      'test/integration/hack/test/fixtures/empty.fixture.ts: no test completed',
    ]);
  });

  it('kills a process that a test left running, and fails', async () => {
    const { problems } = await run({ fixture: 'orphan' });
    expect(problems).to.have.length(1);
    expect(problems[0]).to.match(/a test left a process running: sleep 300/);
  });

  it('fails only the test that leaks a rejection', async () => {
    const { tally } = await run({ fixture: 'leak' });
    expect(tally).to.deep.equal({ passed: 2, failed: 1, skipped: 0 });
  });

  for (const [what, fixture] of [
    ['when a test ends the process with code 0', 'exit'],
    ['when the process is killed', 'crash'],
    ['when a file cannot be loaded', 'broken'],
    ['when a test excludes the others with .only', 'only'],
  ] as const) {
    it(`fails ${what}`, async () => {
      expect((await run({ fixture })).tally.failed).to.be.at.least(1);
    });
  }

  it('says what to do when the disk is full', async () => {
    const { problems } = await run({ fixture: 'unwritable' });
    expect(problems).to.have.length(2);
    expect(problems[1]).to.match(/cannot be written \(ENOENT: .*\): free disk space there, or set TMPDIR/);
  });

  it('says what to do when the temporary folder cannot be created', async () => {
    const { TMPDIR: own } = process.env;
    process.env['TMPDIR'] = join(tmpdir(), 'no-such-folder');
    const error = await run({ fixture: 'green' }).catch((caught: unknown) => caught);
    if (own === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = own;
    expect(error)
      .to.have.property('message')
      .that.matches(/^no folder for temporary files \(ENOENT: .*\): free disk space there, or set TMPDIR/);
  });

  it('fails when a test leaves an open handle, and shows the number of passed tests until then', async () => {
    const shown: string[] = [];
    const { problems } = await run({
      fixture: 'open',
      progress: (line, transient) => {
        if (transient) shown.push(line);
      },
    });
    expect(shown.at(-1)).to.match(/^fixture: 2 tests passed \(\d+s\)$/);
    expect(problems).to.deep.equal(['the tests left open handles: TCPServerWrap']);
  });
});
