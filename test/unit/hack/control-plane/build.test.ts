// Tests of the build of the control plane programs, with a fake `go` command.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { build } from '../../../../hack/control-plane/build.ts';
import { rejection } from '../../../support/rejection.ts';
import { machineWith } from '../../../support/scratch.ts';

const GENERIC = 'pkg/admission/plugin/policy/generic';
/** Its build prints the files of a package of kube-apiserver, and fails. */
const GO = `case $1-$2 in
  env-*) echo go1.26.8 ;;
  mod-download) echo "  \\"Dir\\": \\"$(dirname "$0")/$4\\"," ;;
  mod-edit | list-*) ;;
  *) for argument; do
      case $argument in -modfile=*) echo "files:" $(ls "$(dirname "\${argument#*=}")/module/${GENERIC}") ;; esac
    done
    echo 'main.go:7: undefined: nothing' >&2; exit 1 ;;
esac`;

describe('the build', () => {
  /** The error of a build whose compiler fails, and what it leaves in the cache. */
  async function failure(): Promise<{ message: string; left: string[] }> {
    await using machine = await machineWith({
      go: GO,
      [`k8s.io/apiserver/${GENERIC}/plugin.go`]: '',
      [`k8s.io/apiserver/${GENERIC}/policy_test_context.go`]: '',
    });
    const { path } = machine;
    const env = { ...machine.env, PATH: `${path}:/usr/bin:/bin` };
    const { signal } = new AbortController();
    const { message } = await rejection(build('control-plane', { env, signal, progress: () => undefined }));
    return { message, left: await readdir(join(path, 'cache', 'ks-apiserver')) };
  }

  it('reports the compiler output and how to repeat it after a failure, and leaves nothing', async () => {
    const { message, left } = await failure();
    expect(message).to.match(/^building the control plane failed .*go build/);
    expect(message).to.include('main.go:7: undefined: nothing');
    expect(left).to.deep.equal([]);
  });

  it('omits the test support of kube-apiserver, which imports all fake clients', async () => {
    const { message } = await failure();
    expect(message).to.match(/^files: plugin\.go$/m);
  });
});
