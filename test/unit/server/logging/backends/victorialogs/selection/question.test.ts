import { expect } from 'chai';
import { questionsAbout } from '../../../../../../../server/logging/backends/victorialogs/selection/question.ts';
import type { Scope, Selection, TextFilter } from '../../../../../../../server/logging/log-store.ts';
import { FIELDS } from '../../../../../../support/logging/victorialogs.ts';

const RANGE = { start: '2026-01-01T00:00:00.000000000Z', end: '2026-01-02T00:00:00.000000000Z' };
const ALL: Selection = { scope: { everything: true }, range: RANGE };

function questions(part: Partial<Selection>) {
  const selection = { ...ALL, ...part };
  const found = questionsAbout(selection, FIELDS)(selection.range);
  if (!found) throw new Error('nothing can be found');
  return found;
}

function saying(text: string, mode: TextFilter['mode'] = 'phrase', caseSensitive = false): Selection {
  return { ...ALL, text: { mode, texts: [text], caseSensitive } };
}

function scope(...namespaces: readonly (readonly [name: string, since: string])[]): Scope {
  return { everything: false, namespaces: namespaces.map(([name, since]) => ({ name, since })) };
}

describe('a question for VictoriaLogs', () => {
  it('has the time and the scope beside what was asked for', () => {
    const { exact } = questions({
      scope: scope(['a', RANGE.start], ['b', RANGE.start]),
      pods: { exact: ['p"|*'] },
    });
    expect(exact).to.deep.equal({
      lines: '"kubernetes.pod_name":="p\\"|*"',
      extraFilters: [`_time:[${RANGE.start},${RANGE.end})`, '"kubernetes.namespace_name":in("a","b")'],
    });
  });

  it('has a time of its own for namespaces that were made within the range only', () => {
    const noon = '2026-01-01T12:00:00.000000000Z';
    const { exact } = questions({ scope: scope(['a', RANGE.start], ['b', noon], ['c', RANGE.end]) });
    const [, scoped] = exact.extraFilters;
    expect(scoped).to.equal(
      `("kubernetes.namespace_name":="a" or ("kubernetes.namespace_name":="b" _time:>=${noon}))`,
    );
  });

  it('has some dozens of alternatives for 1,500 such namespaces, one within the other', () => {
    const many = Array.from(
      { length: 1_500 },
      (_, index) => [`n${index}`, `${RANGE.start.slice(0, 19)}.000000001Z`] as const,
    );
    const [, scoped = ''] = questions({ scope: scope(...many) }).exact.extraFilters;
    expect(scoped.split('in(').length - 1).to.equal(39);
    expect(scoped.split('_time:>=').length - 1).to.equal(1_500);
  });

  it('asks for namespaces that are in the scope and were asked for', () => {
    const both = scope(['team-a', RANGE.start], ['team-b', RANGE.start], ['other', RANGE.start]);
    const { exact } = questions({ scope: both, namespaces: { contains: ['TEAM'], exact: ['team-b', 'x'] } });
    expect(exact.extraFilters[1]).to.equal('"kubernetes.namespace_name":="team-b"');
    expect(exact.lines).to.equal('*');
  });

  it('is none where nothing can be found: no name can be right, no level, no moment, no namespace', () => {
    const nothing: Partial<Selection>[] = [
      { pods: { exact: [] } },
      { containers: { contains: [] } },
      { workloads: { exact: [] } },
      { namespaces: { exact: [] } },
      { levels: [] },
      { range: { start: RANGE.end, end: RANGE.end } },
      { range: { start: RANGE.end, end: RANGE.start } },
      { scope: scope() },
      { scope: scope(['a', RANGE.end]) },
    ];
    for (const part of nothing) {
      const selection = { ...ALL, ...part };
      expect(questionsAbout(selection, FIELDS)(selection.range), JSON.stringify(part)).to.equal(undefined);
    }
  });

  it('asks for whole names of pods where it is given workloads', () => {
    const { exact } = questions({ workloads: { exact: ['cart', 'a.b'] } });
    expect(exact.lines).to.match(/^"kubernetes\.pod_name":~"\^\(\?:cart\(-.*\)\|a\[\.\]b\(-.*\)\)\$"$/);
  });

  it('looks through the names of namespaces once for all questions', () => {
    const names = Array.from({ length: 1_500 }, (_, n) => `namespace-of-team-${n}`);
    const contains = Array.from({ length: 1_000 }, (_, n) => `team-${n}x`).with(999, 'team-7');
    const selection = {
      ...ALL,
      scope: scope(...names.map((name) => [name, RANGE.start] as const)),
      namespaces: { contains },
    };
    const about = questionsAbout(selection, FIELDS);
    const began = performance.now();
    for (let n = 0; n < 200; n++)
      expect(about(selection.range)?.rough.extraFilters.join()).to.include('"namespace-of-team-77"');
    // Looked through each time it takes 10 s.
    expect(performance.now() - began).to.be.below(3_000);
  });

  it('leaves case aside in parts of names, in ASCII alone', () => {
    const { exact } = questions({ containers: { contains: ['k-K.1ß'] } });
    expect(exact.lines).to.equal('"kubernetes.container_name":~"[Kk]\\\\x{2d}[Kk]\\\\x{2e}1\\\\x{df}"');
  });

  it('looks for what lines hold in any case before it tries the pattern', () => {
    const { exact, quick, rough } = questions(saying('Connection timeout'));
    expect(exact.lines).to.match(
      /^\* \("_msg":~"CON\|cON\|[^"]*" "_msg":~"TIM\|[^"]*" "_msg":~"NEC\|[^"]*"\) "_msg":~"/,
    );
    expect(quick?.lines).to.contain('connection\\\\x{20}timeout');
    expect(quick?.lines.length).to.be.below(2_000);
    expect(rough.lines).to.equal('*');
  });

  it('looks at lines of which it is not sure only when they are not all ASCII', () => {
    const { quick } = questions(saying('timeout'));
    const notASCII = '"_msg":~"[^\\\\x{0}-\\\\x{7f}]"';
    expect(quick?.sure).to.contain(` or !${notASCII})`);
    expect(quick?.lines).to.contain(quick?.sure.replace(` or !${notASCII})`, ` or ${notASCII})`));
    expect(quick?.unsure).to.equal(`!${quick?.sure}`);
  });

  it('keeps the store from its short cuts with a point', () => {
    expect(questions(saying('.+x.+', 'regex')).exact.lines).to.match(/\|\\\\z\."$/);
    expect(questions(saying('a\\.x', 'regex')).exact.lines).not.to.contain('\\\\z');
  });

  it('minds case where it is asked to', () => {
    const { exact } = questions(saying('Timeout', 'substring', true));
    expect(exact.lines).to.equal('* "_msg":~"(?:Timeout)"');
  });
});
