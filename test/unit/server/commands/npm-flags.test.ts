// Tests of flags that npm consumes.
import { expect } from 'chai';
import { UsageError } from '../../../../apis/reading/command-line.ts';
import { BENCH } from '../../../../hack/bench/options.ts';
import { START } from '../../../../hack/start/arguments.ts';
import { rejectConsumedFlags } from '../../../../server/commands/npm-flags.ts';
import { USER } from '../../../../server/commands/user-arguments.ts';

describe('a missing -- before a flag that npm consumed', () => {
  for (const [given, line, env, message] of [
    ['npm start --nodes=50', START, { npm_config_nodes: '50' }, 'npm start -- --nodes …'],
    ['npm start --kubeconfig F', START, { npm_config_kubeconfig: 'true' }, 'npm start -- --kubeconfig …'],
    ['npm run bench --no-write', BENCH, { npm_config_write: '' }, 'npm run bench -- --no-write …'],
    [
      'npm run user --must-change',
      { ...USER, command: 'npm run user --' },
      { npm_config_must_change: 'true' },
      'npm run user -- --must-change …',
    ],
  ] as const) {
    it(`is reported: ${given}`, () => {
      expect(() => rejectConsumedFlags(line, env)).to.throw(UsageError, `as in ${message}`);
    });
  }

  it('is not inferred from an .npmrc with the settings of other tools', () => {
    expect(() =>
      rejectConsumedFlags({ ...USER, command: 'npm run user --' }, { npm_config_email: 'a@example.com' }),
    ).to.not.throw();
    const tool = { ...START, command: 'node tool.ts' };
    expect(() => rejectConsumedFlags(tool, { npm_config_nodes: '50' })).to.not.throw();
  });
});
