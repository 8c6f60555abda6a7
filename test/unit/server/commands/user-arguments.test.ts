// Tests of the command line of `ks-apiserver user`.
import { expect } from 'chai';
import { parseCommandLine, UsageError } from '../../../../apis/reading/command-line.ts';
import { readUserArguments, USER, type UserArguments } from '../../../../server/commands/user-arguments.ts';

function parse(args: readonly string[]): UserArguments {
  const given = parseCommandLine(USER, args);
  if (given === undefined) throw new Error('help is requested');
  return readUserArguments(given);
}

describe('the command line of ks-apiserver user', () => {
  for (const [args, message] of [
    [[], 'a command is missing: create, password, reset-factors or restore; see --help'],
    [['creat', 'ada'], 'there is no command "creat"; did you mean create?'],
    [['restore'], 'restore needs a file: restore FILE'],
    [['restore', 'a', 'b'], 'unexpected argument "b"; see --help'],
    [['reset-factors'], 'reset-factors needs a user name: reset-factors NAME'],
    [['create'], 'create needs a user name: create NAME'],
    [['create', 'a', 'b'], 'unexpected argument "b"; see --help'],
    [['create', 'Ada'], 'invalid user name "Ada": '],
    [['create', 'ada', '--email', '--no-password'], '--email needs a value: --email ADDRESS'],
  ] as const) {
    it(`rejects ${args.join(' ') || 'no arguments'} with a reason`, () => {
      expect(() => parse(args)).to.throw(UsageError, message);
    });
  }
});

describe('the name of a new user', () => {
  /** The usage error; undefined for a valid name. */
  const create = (name: string): string | undefined => {
    try {
      parse(['create', '--', name]);
      return undefined;
    } catch (error) {
      if (error instanceof UsageError) return error.message;
      throw error;
    }
  };

  for (const [name, near] of [
    ['Bob:x', 'bob-x'],
    ['Zoë Müller', 'zoe-muller'],
    ['ada@example.com', 'ada-example.com'],
    ['-ada-', 'ada'],
    ['a'.repeat(64), 'a'.repeat(63)],
    ['system:admin', 'system-admin'],
  ] as const) {
    it(`is rejected before any request, with a suggestion: ${name}`, () => {
      const message = create(name);
      expect(message).to.include(JSON.stringify(name)).and.include('lower-case letters, digits');
      expect(message?.endsWith(`; did you mean ${near}?`), message).to.equal(true);
    });
  }

  it('is rejected without a suggestion if no valid name is near', () => {
    expect(create('')).to.match(/at most 63 characters$/);
    expect(create('日本')).to.match(/at most 63 characters$/);
    expect(create('a..b')).to.match(/at most 63 characters$/);
  });
});
