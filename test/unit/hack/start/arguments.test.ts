// Tests of the command line of `npm start`.
import { expect } from 'chai';
import { UsageError } from '../../../../apis/reading/command-line.ts';
import { readLocalArguments } from '../../../../hack/start/arguments.ts';

describe('the command line of npm start', () => {
  const none = {
    nodes: undefined,
    static: false,
    port: undefined,
    console: undefined,
    kubeconfig: undefined,
  };

  it('has a default number of nodes, and lets the cluster change', () => {
    expect(readLocalArguments(none)).to.deep.equal({
      nodes: 5,
      isLively: true,
      port: undefined,
      console: undefined,
    });
    const console = 'http://127.0.0.1:5173';
    const given = readLocalArguments({ ...none, nodes: '7', static: true, port: '443', console });
    expect(given).to.deep.equal({ nodes: 7, isLively: false, port: 443, console });
  });

  it('rejects options of the simulation for an existing cluster', () => {
    for (const [flag, values] of [
      ['--nodes', { nodes: '7' }],
      ['--static', { static: true }],
      ['--console', { console: 'http://127.0.0.1:5173' }],
    ] as const) {
      const read = () => readLocalArguments({ ...none, ...values, kubeconfig: 'x' });
      expect(read).to.throw(UsageError, flag);
    }
  });

  it('accepts consoles at origins to which a sign-in can lead', () => {
    for (const console of ['https://console.example.com', 'http://localhost:5173', 'http://[::1]:5173']) {
      expect(readLocalArguments({ ...none, console }).console).to.equal(console);
    }
    for (const console of [
      '',
      '5173',
      'http://127.0.0.1:5173/',
      'http://console.example.com',
      'http://localhost.example.com',
    ]) {
      const read = () => readLocalArguments({ ...none, console });
      expect(read, console).to.throw(UsageError, '--console');
    }
  });
});
