// Tests of the lookup of the control plane programs.
import { join } from 'node:path';
import { expect } from 'chai';
import { API, areInstalled, findPrograms } from '../../../../hack/control-plane/programs.ts';
import { machineWith } from '../../../support/scratch.ts';

const { signal } = new AbortController();

const kubectl = (version: string) => `echo '{"clientVersion": {"gitVersion": "v${version}"}}'`;

async function machine(programs: Readonly<Record<string, string>>) {
  const made = await machineWith(programs);
  const PATH = `${join(made.path, 'first')}:${join(made.path, 'second')}`;
  const env = { ...made.env, KUBEBUILDER_ASSETS: join(made.path, 'assets'), PATH };
  const lines: string[] = [];
  const build = async (binary: string) => join(made.path, binary);
  return {
    ...made,
    lines,
    options: { signal, env, build, progress: (line: string) => void lines.push(line) },
  };
}

describe('the lookup of the programs', () => {
  it('skips programs of another version, finds a later match, and says why', async () => {
    await using made = await machine({
      'assets/kubectl': kubectl('1.37.0'),
      'assets/kube-apiserver': "echo 'Kubernetes v1.35.9'",
      'first/kubectl': kubectl('1.32.4'),
      'second/kubectl': kubectl('1.36.0'),
    });
    const found = await findPrograms(['kubectl', 'kubeApiserver', 'kubelet'], made.options);
    expect(found).to.deep.equal({
      kubectl: join(made.path, 'second/kubectl'),
      kubeApiserver: join(made.path, 'control-plane/kube-apiserver'),
      kubelet: join(made.path, 'node/kubelet'),
    });
    const assets = join(made.path, 'assets');
    expect(made.lines).to.deep.equal(
      ['kubectl', 'kube-apiserver'].map(
        (file) => `KUBEBUILDER_ASSETS (${assets}) has no ${file} of a matching version (Kubernetes 1.36)`,
      ),
    );
  });

  it('builds nothing for programs that are all installed', async () => {
    await using made = await machine({
      'assets/kubectl': kubectl('1.36.0'),
      'assets/kube-apiserver': "echo 'Kubernetes v1.36.0'",
      'first/etcd': "echo 'etcd Version: 3.6.6'",
    });
    expect(await areInstalled(API, made.options)).to.equal(true);
    expect(await areInstalled([...API, 'kwok'], made.options)).to.equal(false);
    expect(await findPrograms(API, made.options)).to.deep.equal({
      etcd: join(made.path, 'first/etcd'),
      kubeApiserver: join(made.path, 'assets/kube-apiserver'),
      kubectl: join(made.path, 'assets/kubectl'),
    });
  });

  it("lets no kubectl contact the user's cluster for its version", async () => {
    const careful = `test "$KUBECONFIG" = /dev/null && echo '"gitVersion": "v1.36.1"'`;
    await using made = await machine({ 'first/kubectl': careful });
    const env = { ...made.options.env, KUBECONFIG: join(made.path, 'theirs') };
    const found = await findPrograms(['kubectl'], { ...made.options, env });
    expect(found.kubectl).to.equal(join(made.path, 'first/kubectl'));
  });
});
