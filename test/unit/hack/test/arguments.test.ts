// Tests of the command line of `npm test`.
import { expect } from 'chai';
import { parseTestArguments, testHelp } from '../../../../hack/test/arguments.ts';

const KNOWN = ['types', 'unit', 'e2e'];

describe('the command line of npm test', () => {
  it('selects stages and tests', () => {
    expect(parseTestArguments(['unit', 'e2e', '--grep', 'a list', '--jobs', '2'], KNOWN)).to.deep.equal({
      stages: ['unit', 'e2e'],
      grep: 'a list',
      jobs: 2,
      help: false,
    });
  });

  it('rejects unknown stages and flags', () => {
    expect(() => parseTestArguments(['units'], KNOWN)).to.throw(
      'unknown stage units; the stages are types, unit, e2e',
    );
    expect(() => parseTestArguments(['--jobs', '0'], KNOWN)).to.throw('--jobs 0');
    expect(() => parseTestArguments(['--only'], KNOWN)).to.throw('--only');
  });

  it('shows the fixed stages of a script in its help', () => {
    expect(testHelp(KNOWN, 'test', ['unit'])).to.match(/^Usage: npm test -- .*all by default\.$/ms);
    expect(testHelp(KNOWN, 'check', ['types', 'unit'])).to.match(
      /^Usage: npm run check -- .*; here types, unit, and those given\.$/ms,
    );
  });
});
