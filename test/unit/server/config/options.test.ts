// Tests of the command line of the server.
import { expect } from 'chai';
import { UsageError } from '../../../../apis/reading/command-line.ts';
import { parseOptions } from '../../../../server/config/options.ts';

describe('parseOptions', () => {
  it('returns the file, and flags as overrides', () => {
    const flags = ['--log-level', 'debug', '--secure-port=0', '--log-format', 'text'];
    expect(parseOptions(['--config', 'a.yaml', ...flags])).to.deep.equal({
      action: 'run',
      config: 'a.yaml',
      logFormat: 'text',
      overrides: [
        { path: ['listeners', 'secure', 'port'], value: 0, source: '--secure-port' },
        { path: ['log', 'level'], value: 'debug', source: '--log-level' },
      ],
    });
  });

  it('leaves the validation of values to the configuration', () => {
    const overrides = [{ path: ['listeners', 'secure', 'port'], value: 'x', source: '--secure-port' }];
    expect(parseOptions(['--secure-port', 'x'])).to.deep.equal({
      action: 'run',
      config: undefined,
      logFormat: 'json',
      overrides,
    });
  });

  for (const action of ['help', 'version'] as const) {
    it(`accepts --${action}`, () => expect(parseOptions([`--${action}`])).to.deep.equal({ action }));
  }

  it('rejects other arguments', () => {
    for (const args of [
      ['--secure-prot', '1'],
      ['--log-format', 'xml'],
      ['--config'],
      ['--version=1'],
      ['stray'],
    ]) {
      expect(() => parseOptions(args), args.join(' ')).to.throw(UsageError);
    }
  });
});
