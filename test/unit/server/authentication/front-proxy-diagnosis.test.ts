import { expect } from 'chai';
import { FrontProxyDiagnosis } from '../../../../server/authentication/front-proxy-diagnosis.ts';

/** When the process has run for an hour, in ms. */
const START = 3_600_000;

describe('the diagnosis of a front proxy', () => {
  let time = START;
  let lines: unknown[] = [];
  const diagnosis = () =>
    new FrontProxyDiagnosis(
      { current: () => undefined },
      { warn: (line: unknown) => void lines.push(line) },
      () => time,
    );

  beforeEach(() => {
    time = START;
    lines = [];
  });

  it('is logged once a minute for each kind of fault, however many callers have it', () => {
    const subject = diagnosis();
    for (let i = 0; i < 100; i++) subject.refused('name', 'x');
    subject.refused('otherCA', 'y');
    expect(lines).to.have.length(2);
    expect(lines[0]).to.include({ came: 'x', flag: '--requestheader-allowed-names' });
    time = START + 60_000;
    subject.refused('name', 'x');
    expect(lines).to.have.length(3);
  });

  it('shows the last fault for ten minutes, then only what is expected', () => {
    const subject = diagnosis();
    subject.refused('noCA', 'x');
    expect(subject.describe()).to.contain('came x').and.to.contain('--requestheader-client-ca-file decides');
    time = START + 599_999;
    expect(subject.describe()).to.contain('came x');
    time = START + 600_000;
    expect(subject.describe()).to.equal('believed: nothing, the settings have not been read yet');
  });

  it('repeats what a stranger sent without control characters and not for long', () => {
    const subject = diagnosis();
    subject.refused('name', `a\n\u001b[31m${'b'.repeat(1000)}`);
    expect(subject.describe()).to.match(/came a\?\?\[31mb+;/);
    expect(subject.describe().length).to.be.below(500);
  });
});
