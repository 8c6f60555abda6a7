// Tests of `npm start` with the programs of envtest, on a machine that has neither Go nor a build.
import { execFile } from 'node:child_process';
import { mkdir, realpath, symlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { API, findPrograms } from '../../../hack/control-plane/programs.ts';
import { script } from '../../support/scratch.ts';
import { ClonedProject } from './clone.ts';

const run = promisify(execFile);

describe('npm start with KUBEBUILDER_ASSETS', () => {
  const clone = new ClonedProject();
  let env: NodeJS.ProcessEnv;

  before(async () => {
    const assets = join(clone.dir, 'assets');
    await mkdir(assets);
    const { signal } = new AbortController();
    const programs = Object.values(await findPrograms(API, { signal }));
    await Promise.all(
      programs.map(async (path) => symlink(await realpath(path), join(assets, basename(path)))),
    );
    await script(join(clone.dir, 'without-go/go'), 'exit 1');
    env = {
      KUBEBUILDER_ASSETS: assets,
      XDG_CACHE_HOME: join(clone.dir, 'empty-cache'),
      PATH: `${join(clone.dir, 'without-go')}:${process.env['PATH']}`,
    };
  });

  it('builds nothing, has nodes and the permissions of aggregated roles, and says that no pods run', async () => {
    const program = clone.start([], env);
    await program.printed(/Ctrl-C stops everything/);
    expect(program.output).to.match(/^No pods run, .* no controllers and no KWOK\./m);
    const [environment = ''] = program.advice;
    const shell = async (...commands: string[]): Promise<string> => {
      const script = [environment, ...commands].join('\n');
      const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', script], { cwd: '/' });
      return stdout;
    };
    expect(await shell('kubectl get nodes.resources.platform.io')).to.match(/^\S+ +Ready /m);
    const asTenant =
      'kubectl --kubeconfig /dev/null --server "$BASE" --certificate-authority "$CA" --token "$TENANT"';
    const seen = await shell(
      'TENANT=$(kubectl -n platform-system create token tenant)',
      `${asTenant} -n shop get services -o name`,
      `${asTenant} -n default get services 2>&1 || true`,
    );
    expect(seen).to.match(/^service\/cart$/m);
    expect(seen).to.match(/forbidden/i);
    program.signal('SIGINT');
    expect(await program.end()).to.deep.equal({ code: 130, left: [] });
  });
});
