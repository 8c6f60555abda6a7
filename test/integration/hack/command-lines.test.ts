// Tests of the command lines of the tools in hack/: `--help` and unknown arguments.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { expect } from 'chai';
import packageManifest from '../../../package.json' with { type: 'json' };

const ROOT = join(import.meta.dirname, '../../..');

function run(args: string[]): Promise<{ code: unknown; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    // A script that ignores its arguments would start working.
    execFile(process.execPath, args, { cwd: ROOT, timeout: 60_000 }, (error, stdout, stderr) =>
      resolve({ code: error ? error.code : 0, stdout, stderr }),
    );
  });
}

/** Programs of the npm scripts, without their fixed arguments: `check` and `verify` run stages of the tests. */
const programs = new Set(
  Object.entries(packageManifest.scripts)
    .filter(([name]) => !name.startsWith('pre'))
    .flatMap(([, script]) => /hack\/\S+\.ts/.exec(script) ?? []),
);

describe('the command line of', function () {
  this.timeout(180_000);

  for (const name of [...programs, 'hack/lockfile.mjs']) {
    it(`${name} --help prints help and does nothing else`, async () => {
      const { code, stdout, stderr } = await run([name, '--help']);
      expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
      expect(stdout).to.match(/npm |node hack/);
    });

    it(`${name} rejects unknown arguments on stderr and does nothing`, async () => {
      const { code, stdout, stderr } = await run([name, '--frobnicate']);
      expect(code).to.equal(2);
      expect(stdout).to.equal('');
      expect(stderr).to.match(/^unknown flag --frobnicate; .*\n$/);
    });
  }
});
