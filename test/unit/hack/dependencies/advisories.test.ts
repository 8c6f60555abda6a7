// Tests of the reader of `npm audit --json`.
import { expect } from 'chai';
import { auditResult } from '../../../../hack/dependencies/advisories.ts';

function report(severity: string): string {
  const advisory = { severity, range: '<8.17.1', title: 'DoS', url: 'https://example.com/GHSA-1' };
  return JSON.stringify({
    auditReportVersion: 2,
    vulnerabilities: { ws: { severity, via: [advisory] }, 'isomorphic-ws': { severity, via: ['ws'] } },
  });
}

describe('the advisories of npm audit', () => {
  it('are those of high and critical severity', () => {
    for (const severity of ['high', 'critical']) {
      const line = `ws <8.17.1 (${severity}): DoS https://example.com/GHSA-1`;
      expect(auditResult(report(severity))).to.deep.equal({ advisories: [line] });
    }
    for (const severity of ['low', 'moderate']) {
      expect(auditResult(report(severity))).to.deep.equal({ advisories: [] });
    }
  });

  it('are unknown if the registry returns an error or nothing', () => {
    expect(auditResult('{"message": "405 Method Not Allowed"}')).to.deep.equal({
      unanswered: '405 Method Not Allowed',
    });
    expect(auditResult('')).to.deep.equal({ unanswered: 'no report' });
  });
});
