// Tests of the parser of the command-line flags.
import { expect } from 'chai';
import { FLAGS, help, parseOptions, UsageError } from '../../../server/options.ts';

describe('parseOptions', () => {
  it('returns the file, and flags as overrides', () => {
    expect(parseOptions(['--config', 'a.yaml', '--secure-port=0', '--log-level', 'debug'])).to.deep.equal({
      action: 'run',
      config: 'a.yaml',
      overrides: [
        { path: ['listeners', 'secure', 'port'], value: 0, source: '--secure-port' },
        { path: ['log', 'level'], value: 'debug', source: '--log-level' },
      ],
    });
  });

  for (const action of ['help', 'version'] as const) {
    it(`accepts --${action}`, () => expect(parseOptions([`--${action}`])).to.deep.equal({ action }));
  }

  it('accepts -h for --help', () => {
    expect(parseOptions(['-h'])).to.deep.equal({ action: 'help' });
    expect(help()).to.contain('-h, --help');
  });

  for (const [args, message] of [
    [['--secure-prot', '1'], 'unknown flag --secure-prot; did you mean --secure-port?'],
    [['--entirely-else'], 'unknown flag --entirely-else; see --help'],
    [['-c', 'x'], 'unknown flag -c; see --help'],
    [['--config'], '--config needs a value: --config FILE'],
    [['--config='], '--config needs a value: --config FILE'],
    [['--config', '--help'], '--config needs a value: --config FILE'],
    [['--help=1'], '--help takes no value'],
    [['stray'], 'unexpected argument "stray"; see --help'],
  ] as const) {
    it(`refuses ${args.join(' ')} with one line`, () => {
      expect(() => parseOptions(args)).to.throw(UsageError, message);
    });
  }
});

describe('help', () => {
  it('lists every flag with its description', () => {
    for (const { name, description } of FLAGS)
      expect(help()).to.contain(`--${name}`).and.contain(description);
  });
});
