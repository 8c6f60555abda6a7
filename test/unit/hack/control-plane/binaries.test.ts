// Tests of the lookup of the control plane programs.
import { join } from 'node:path';
import { expect } from 'chai';
import { findBinaries } from '../../../../hack/control-plane/binaries.ts';
import { machineWith } from '../../../support/scratch.ts';

const { signal } = new AbortController();

async function machine(programs: Readonly<Record<string, string>>) {
  const made = await machineWith(programs);
  const PATH = `${join(made.path, 'first')}:${join(made.path, 'second')}`;
  const env = { ...made.env, KUBEBUILDER_ASSETS: join(made.path, 'assets'), PATH };
  return { ...made, options: { signal, env, build: async () => join(made.path, 'built') } };
}

describe('the lookup of the programs', () => {
  it('skips programs of another version, and finds a later match', async () => {
    const kubectl = (version: string) => `echo '{"clientVersion": {"gitVersion": "v${version}"}}'`;
    await using made = await machine({
      'assets/kubectl': kubectl('1.37.0'),
      'assets/kube-apiserver': "echo 'Kubernetes v1.35.9'",
      'first/kubectl': kubectl('1.32.4'),
      'first/etcd': "echo 'etcd Version: 3.4.30'",
      'second/kubectl': kubectl('1.36.0'),
    });
    const found = await findBinaries(made.options);
    expect(found.kubectl).to.equal(join(made.path, 'second/kubectl'));
    expect(found.kubeApiserver).to.equal(join(made.path, 'built/kube-apiserver'));
    expect(found.etcd).to.equal(join(made.path, 'built/etcd'));
  });

  it("lets no kubectl contact the user's cluster for its version", async () => {
    const kubectl = `test "$KUBECONFIG" = /dev/null && echo '"gitVersion": "v1.36.1"'`;
    await using made = await machine({ 'first/kubectl': kubectl });
    const env = { ...made.options.env, KUBECONFIG: join(made.path, 'theirs') };
    expect((await findBinaries({ ...made.options, env })).kubectl).to.equal(join(made.path, 'first/kubectl'));
  });
});
