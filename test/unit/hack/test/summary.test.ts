// Tests of the summary of `npm test`.
import { expect } from 'chai';
import { runStages } from '../../../../hack/test/run.ts';
import type { Stage, StageResult } from '../../../../hack/test/stage.ts';
import { summary, verdict } from '../../../../hack/test/summary.ts';

function stage(name: string, result: () => StageResult, kind: Stage['kind'] = 'suite'): Stage {
  return { name, kind, cure: `correct the ${name}`, run: async () => result() };
}

function counted(passed: number, failed: number, skipped: number): () => StageResult {
  return () => ({ tally: { passed, failed, skipped }, problems: [] });
}

async function run(stages: Stage[], strict = false) {
  const context = { root: '/', env: {}, signal: new AbortController().signal, progress: () => {} };
  const finished = await runStages(stages, context);
  const { total, exitCode } = verdict(finished, strict);
  return { exitCode, lines: summary(finished, total).split('\n') };
}

describe('the summary of npm test', () => {
  it('runs the stages after a failed one and says what to do', async () => {
    const { exitCode, lines } = await run([
      stage('types', counted(0, 1, 0), 'gate'),
      stage('unit', counted(10, 0, 0)),
    ]);
    expect(lines.at(-1)).to.equal('10 passed, 1 failed, 0 skipped');
    expect(lines).to.include('types failed. Cure: correct the types');
    expect(exitCode).to.equal(1);
  });

  it('lists each failed test under its stage', async () => {
    const { lines } = await run([
      stage('e2e', () => ({
        tally: { passed: 7, failed: 1, skipped: 0 },
        problems: ['a login ends\n  test/e2e/login.test.ts\n  Error: 401'],
      })),
    ]);
    expect(lines.slice(-5)).to.deep.equal([
      'e2e failed. Cure: correct the e2e',
      '  a login ends',
      '    test/e2e/login.test.ts',
      '    Error: 401',
      '7 passed, 1 failed, 0 skipped',
    ]);
  });

  it('counts a stage that throws as failed', async () => {
    const { exitCode, lines } = await run([
      stage('unit', counted(10, 0, 0)),
      stage('e2e', () => {
        throw new Error('no kubectl');
      }),
    ]);
    expect(lines.at(-1)).to.equal('10 passed, 1 failed, 0 skipped');
    expect(lines).to.include('  no kubectl');
    expect(exitCode).to.equal(1);
  });

  for (const [skipped, reason] of [
    [3, 'every test was skipped'],
    [0, 'no title matches'],
  ] as const) {
    it(`fails when nothing was checked: ${reason}`, async () => {
      const { exitCode, lines } = await run([stage('unit', counted(0, 0, skipped))]);
      expect(lines.slice(-2)).to.deep.equal([
        `nothing was checked: ${reason}`,
        `0 passed, 1 failed, ${skipped} skipped`,
      ]);
      expect(exitCode).to.equal(1);
    });
  }

  it('shows a stage that this machine cannot run, which is no failure', async () => {
    const skipped = { ...counted(0, 0, 0)(), skipped: 'it needs root' };
    for (const others of [[], [stage('unit', counted(9, 0, 0))]]) {
      const { exitCode, lines } = await run([...others, stage('cluster', () => skipped)], true);
      expect(lines.at(-2)).to.match(/^ {2}cluster .* skipped: it needs root$/);
      expect(exitCode).to.equal(0);
    }
  });
});
