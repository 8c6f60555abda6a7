// Tests of the command line of `npm start`.
import { expect } from 'chai';
import { UsageError } from '../../../../apis/reading/command-line.ts';
import { readLocalArguments } from '../../../../hack/start/arguments.ts';

describe('the command line of npm start', () => {
  const none = { nodes: undefined, static: false, port: undefined, kubeconfig: undefined };

  it('has a default number of nodes, and lets the cluster change', () => {
    expect(readLocalArguments(none)).to.deep.equal({ nodes: 5, isLively: true, port: undefined });
    const given = readLocalArguments({ ...none, nodes: '7', static: true, port: '443' });
    expect(given).to.deep.equal({ nodes: 7, isLively: false, port: 443 });
  });

  it('rejects options of the simulation for an existing cluster', () => {
    for (const [flag, values] of [
      ['--nodes', { nodes: '7' }],
      ['--static', { static: true }],
    ] as const) {
      const read = () => readLocalArguments({ ...none, ...values, kubeconfig: 'x' });
      expect(read).to.throw(UsageError, flag);
    }
  });
});
