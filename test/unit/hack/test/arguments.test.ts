import { expect } from 'chai';
import { parseTestArguments, testHelp } from '../../../../hack/test/arguments.ts';

const KNOWN = ['types', 'unit', 'e2e'];

describe('the command line of npm test', () => {
  it('takes all stages when none is named', () => {
    expect(parseTestArguments([], KNOWN)).to.deep.equal({
      stages: [],
      grep: undefined,
      jobs: undefined,
      help: false,
    });
  });

  it('selects stages and tests', () => {
    expect(parseTestArguments(['unit', 'e2e', '--grep', 'a list', '--jobs', '2'], KNOWN)).to.deep.equal({
      stages: ['unit', 'e2e'],
      grep: 'a list',
      jobs: 2,
      help: false,
    });
  });

  it('refuses what it does not know', () => {
    expect(() => parseTestArguments(['units'], KNOWN)).to.throw(
      'unknown stage units; the stages are types, unit, e2e',
    );
    expect(() => parseTestArguments(['--jobs', '0'], KNOWN)).to.throw('--jobs 0');
    expect(() => parseTestArguments(['--only'], KNOWN)).to.throw('--only');
  });

  it('names every stage in its help', () => {
    for (const name of KNOWN) expect(testHelp(KNOWN)).to.include(name);
  });

  it('tells of the script that was run, which has stages of its own', () => {
    expect(testHelp(KNOWN, 'test', ['unit'])).to.match(/^Usage: npm test -- .*all by default\.$/ms);
    expect(testHelp(KNOWN, 'check', ['types', 'unit'])).to.match(
      /^Usage: npm run check -- .*; here types, unit, and those given\.$/ms,
    );
  });
});
