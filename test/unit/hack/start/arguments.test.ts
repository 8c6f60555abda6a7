// Tests of the command line of `npm start`.
import { expect } from 'chai';
import { UsageError } from '../../../../apis/reading/command-line.ts';
import { readLocalArguments } from '../../../../hack/start/arguments.ts';

describe('the command line of npm start', () => {
  const none = { nodes: undefined, port: undefined, kubeconfig: undefined };

  it('has a default number of nodes', () => {
    expect(readLocalArguments(none)).to.deep.equal({ nodes: 5, port: undefined });
    expect(readLocalArguments({ ...none, nodes: '7', port: '443' })).to.deep.equal({ nodes: 7, port: 443 });
  });

  it('rejects simulated nodes in an existing cluster', () => {
    expect(() => readLocalArguments({ ...none, nodes: '7', kubeconfig: 'x' })).to.throw(
      UsageError,
      /--nodes/,
    );
  });
});
