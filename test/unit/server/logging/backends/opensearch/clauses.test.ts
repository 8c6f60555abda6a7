// Tests of the query clauses for names.
import { expect } from 'chai';
import { nameClauses, workloadClause } from '../../../../../../server/logging/backends/opensearch/clauses.ts';

function patternsIn(clause: unknown): string[] {
  return [...JSON.stringify(clause).matchAll(/"regexp":\{"pod":\{"value":"((?:[^"\\]|\\.)*)"/g)].map(
    ([, value = '']) => String(JSON.parse(`"${value}"`)),
  );
}

describe('clauses for names', () => {
  it('combine a thousand workloads into few patterns within `index.max_regex_length`', () => {
    for (const how of ['exact', 'contains'] as const) {
      const names = Array.from({ length: 1_000 }, (_, n) => `the-service-of-a-team-${n}`);
      const patterns = patternsIn(workloadClause({ [how]: names }, 'pod'));
      expect(patterns.length).to.be.within(2, 50);
      for (const pattern of patterns) expect(pattern.length).to.be.at.most(1_000);
      for (const name of names) expect(patterns.join('\n')).to.include(name.replaceAll('-', '\\-'));
    }
  });

  it('reject parts of names beyond 8,000 characters', () => {
    const contains = Array.from({ length: 50 }, () => 'x'.repeat(161));
    expect(() => nameClauses({ contains }, 'pod', 'pod'))
      .to.throw()
      .with.property('code', 400);
  });
});
