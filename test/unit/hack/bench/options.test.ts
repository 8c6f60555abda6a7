// Tests of the command line of `npm run bench`.
import { expect } from 'chai';
import { GROUPS, parseOptions } from '../../../../hack/bench/options.ts';

describe('the options of the bench', () => {
  it('default to all rows on 5,000 nodes, written to the file', () => {
    expect(parseOptions([])).to.deep.include({
      groups: [...GROUPS],
      nodes: 5000,
      seconds: 10,
      watchers: [300, 1000, 5000],
      write: true,
    });
  });

  it('write the requested rows, but no file for fewer nodes or lines', () => {
    expect(parseOptions(['--rows', 'get,list']))
      .to.include({ write: true })
      .and.to.deep.include({
        groups: ['list', 'get'],
      });
    expect(parseOptions(['--log-lines', '1000'])).to.include({ write: false });
    expect(parseOptions(['--nodes', '500'])).to.include({ write: false, nodes: 500 });
    expect(parseOptions(['--no-write'])).to.include({ write: false });
  });

  it('reject an unknown row and an invalid number', () => {
    expect(() => parseOptions(['--rows', 'list,gte'])).to.throw(
      '--rows: unknown group gte; the groups are sync, watch, list, get, tokens, logins, peers, platform, memory',
    );
    expect(() => parseOptions(['--nodes', 'many'])).to.throw('--nodes many: a whole number from 1 to');
    expect(() => parseOptions(['--watchers', '1,0'])).to.throw('--watchers 0: a whole number');
    for (const text of ['1e3', '0x10', ' 5', '2.0']) {
      expect(() => parseOptions(['--nodes', text])).to.throw(`--nodes ${text}: a whole number`);
    }
    expect(() => parseOptions(['--row', 'list'])).to.throw('unknown flag --row; did you mean --rows?');
  });
});
