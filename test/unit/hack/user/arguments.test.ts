import { expect } from 'chai';
import { UsageError } from '../../../../hack/terminal/usage.ts';
import { parseUserArguments, USAGE } from '../../../../hack/user/arguments.ts';

describe('the command line of npm run user', () => {
  it('has a command, a name and properties of the user', () => {
    const args = [
      'create',
      'ada',
      '--email=ada@example.com',
      '--group',
      'a',
      '--group',
      'b',
      '--no-password',
    ];
    expect(parseUserArguments(args)).to.deep.equal({
      command: 'create',
      name: 'ada',
      options: {
        kubeconfig: undefined,
        platform: undefined,
        email: 'ada@example.com',
        displayName: undefined,
        groups: ['a', 'b'],
        mustChange: false,
        noPassword: true,
      },
    });
  });

  it('has a command and a file for a restore', () => {
    expect(parseUserArguments(['restore', 'users.json', '--platform', 'acme'])).to.deep.equal({
      command: 'restore',
      file: 'users.json',
      options: { kubeconfig: undefined, platform: 'acme' },
    });
  });

  it('accepts --help with any other arguments', () => {
    expect(parseUserArguments(['--help'])).to.deep.equal({ command: 'help' });
    expect(parseUserArguments(['create', 'a', 'b', '-h'])).to.deep.equal({ command: 'help' });
    for (const word of ['create NAME', 'password NAME', '--group']) expect(USAGE).to.include(word);
  });

  for (const [args, message] of [
    [[], 'a command is missing: create, password or restore; see --help'],
    [['creat', 'ada'], 'there is no command "creat"; did you mean create?'],
    [['remove', 'ada'], 'there is no command "remove"; see --help'],
    [['restore'], 'restore needs the file: restore FILE'],
    [['restore', 'a', 'b'], 'unexpected argument "b"; see --help'],
    [['create'], 'create needs the name of the user: create NAME'],
    [['create', 'a', 'b'], 'unexpected argument "b"; see --help'],
    [['create', 'Ada'], '"Ada" cannot be the name of a user: '],
    [['create', 'ada', '--mail', 'x'], 'unknown flag --mail; did you mean --email?'],
    [['create', 'ada', '--email'], '--email needs a value; see --help'],
    [['create', 'ada', '--email='], '--email needs a value; see --help'],
    [['create', 'ada', '--email', '--no-password'], '--email needs a value; see --help'],
    [['create', 'ada', '--no-password=yes'], '--no-password takes no value; see --help'],
  ] as const) {
    it(`refuses ${args.join(' ') || 'nothing at all'} with a reason`, () => {
      expect(() => parseUserArguments(args)).to.throw(UsageError, message);
    });
  }
});
