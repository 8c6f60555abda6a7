// Tests of the command line of `npm start`.
import { expect } from 'chai';
import { parseStartArguments } from '../../../../hack/start/arguments.ts';
import { UsageError } from '../../../../hack/terminal/usage.ts';

describe('the command line of npm start', () => {
  for (const [args, message] of [
    [['--node', '7'], 'unknown flag --node; did you mean --nodes?'],
    [['--frobnicate'], 'unknown flag --frobnicate; see --help'],
    [['5000'], 'unexpected argument "5000"; see --help'],
    [['--nodes'], '--nodes needs a value; see --help'],
    [['--nodes', 'many'], '--nodes many: a whole number from 1 to 10000 is needed'],
    [['--port', '70000'], '--port 70000: a whole number from 1 to 65535 is needed'],
  ] as const) {
    it(`rejects ${args.join(' ')}`, () => {
      expect(() => parseStartArguments(args)).to.throw(UsageError, message);
    });
  }

  it('reports a missing -- before a flag that npm consumed', () => {
    // npm start --nodes=50, and npm start --kubeconfig FILE
    for (const [args, env] of [
      [[], { npm_config_nodes: '50' }],
      [['/tmp/config'], { npm_config_kubeconfig: 'true' }],
    ] as const) {
      expect(() => parseStartArguments(args, env)).to.throw(
        UsageError,
        /npm start -- --(nodes|kubeconfig) …$/,
      );
    }
  });

  it('rejects simulated nodes in an existing cluster', () => {
    expect(() => parseStartArguments(['--nodes', '7', '--kubeconfig', 'x'])).to.throw(UsageError, /--nodes/);
  });
});
