// Tests of the parser of command lines and of the usage text.
import { expect } from 'chai';
import {
  type CommandLine,
  parseCommandLine,
  UsageError,
  unknownCommand,
  usageText,
  wholeNumber,
} from '../../../../apis/reading/command-line.ts';

const LINE = {
  command: 'npm run greet --',
  usage: ['NAME [options]', '--all'],
  about: 'Greets a user.',
  flags: {
    file: { value: 'FILE', short: 'f', description: 'file with the text' },
    times: { value: 'N', default: '1', description: 'number of greetings' },
    group: { value: 'GROUP', multiple: true, description: 'also this group' },
    all: { description: 'all users;\nneeds a list' },
  },
  notes: 'The end.',
  maxArguments: 1,
} as const satisfies CommandLine;

describe('a command line', () => {
  it('has values, defaults and other arguments', () => {
    expect(parseCommandLine(LINE, [])).to.deep.equal({
      values: { file: undefined, times: '1', group: [], all: false, help: false },
      positionals: [],
    });
    const args = ['-f', 'a', '--file=-b', '--group', 'x', 'ada', '--group=y', '--all'];
    expect(parseCommandLine(LINE, args)).to.deep.equal({
      values: { file: '-b', times: '1', group: ['x', 'y'], all: true, help: false },
      positionals: ['ada'],
    });
    expect(parseCommandLine(LINE, ['--', '--all'])?.positionals).to.deep.equal(['--all']);
  });

  it('asks for help beside any other argument', () => {
    for (const args of [['--help'], ['-h'], ['a', 'b', '-h'], ['--unknown', '--help']]) {
      expect(parseCommandLine(LINE, args), args.join(' ')).to.equal(undefined);
    }
  });

  for (const [args, message] of [
    [['--tims', '1'], 'unknown flag --tims; did you mean --times?'],
    [['--entirely-else'], 'unknown flag --entirely-else; see --help'],
    [['--__proto__'], 'unknown flag --__proto__; see --help'],
    [['-c', 'x'], 'unknown flag -c; see --help'],
    [['--file'], '--file needs a value: --file FILE'],
    [['-f'], '-f needs a value: -f FILE'],
    [['--file='], '--file needs a value: --file FILE'],
    [['--file', ''], '--file needs a value: --file FILE'],
    [['--file', '--help'], '--file needs a value: --file FILE'],
    [['--group', '-h'], '--group needs a value: --group GROUP'],
    [['--all=yes'], '--all takes no value; see --help'],
    [['--help=1'], '--help takes no value; see --help'],
    [['ada', 'bob'], 'unexpected argument "bob"; see --help'],
    [['ada', '--', 'bob'], 'unexpected argument "bob"; see --help'],
  ] as const) {
    it(`rejects ${args.join(' ')} with one line that names the argument`, () => {
      expect(() => parseCommandLine(LINE, args)).to.throw(UsageError, message);
    });
  }

  it('rejects all arguments that are not flags by default', () => {
    const { maxArguments: _, ...line } = LINE;
    expect(() => parseCommandLine(line, ['ada'])).to.throw(UsageError, 'unexpected argument "ada"');
  });
});

describe('the usage text', () => {
  it('lists each form, each flag with its default, and --help', () => {
    expect(usageText(LINE).split('\n')).to.deep.equal([
      'Usage: npm run greet -- NAME [options]',
      '       npm run greet -- --all',
      '',
      'Greets a user.',
      '',
      '  -f, --file FILE  file with the text',
      '  --times N        number of greetings (default 1)',
      '  --group GROUP    also this group',
      '  --all            all users;',
      '                   needs a list',
      '  -h, --help       print this text and exit',
      '',
      'The end.',
    ]);
  });
});

describe('a number of a command line', () => {
  it('has digits only, and a range', () => {
    expect(wholeNumber('--port', '65535', 1, 65_535)).to.equal(65_535);
    for (const text of ['0', '65536', '1e3', '0x10', '1.5', ' 1', '-1', 'many', '']) {
      expect(() => wholeNumber('--port', text, 1, 65_535), text).to.throw(
        UsageError,
        `--port ${text}: a whole number from 1 to 65535 is needed`,
      );
    }
  });
});

describe('an unknown command', () => {
  for (const [given, message] of [
    [undefined, 'a command is missing: create, password or restore; see --help'],
    ['creat', 'there is no command "creat"; did you mean create?'],
    ['remove', 'there is no command "remove"; see --help'],
  ] as const) {
    it(`is reported with the known ones: ${given}`, () => {
      expect(unknownCommand(given, ['create', 'password', 'restore'])).to.have.property('message', message);
    });
  }
});
