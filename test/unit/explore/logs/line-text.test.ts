// Tests of how hostile log lines are shown.
import { expect } from 'chai';
import { fieldsOfLine } from '../../../../client/line-text.ts';
import { lineText } from '../../../../explore/logs/log-line.ts';

const nodes = (text: string, highlights: [number, number][] = []): unknown[] =>
  lineText(text, 50_000, highlights);

describe('the text of a line', () => {
  it('is at most a few hundred elements, so that hostile lines do not freeze the page', () => {
    const matches = Array.from({ length: 25_000 }, (_, i): [number, number] => [i * 2, i * 2 + 1]);
    for (const [text, highlights] of [
      ['\u200b'.repeat(50_000), []],
      ['\u001b[31ma\u001b[32mb'.repeat(4_000), []],
      ['ab'.repeat(25_000), matches],
    ] as const)
      expect(nodes(text, [...highlights])).to.have.length.within(1, 401);
    expect(nodes('ab'.repeat(30_000), matches).at(-1)).to.equal('… 10000 more characters');
  });

  it('is complete, with the names of special characters, and without colours', () => {
    expect(nodes('GET /cart 200')).to.deep.equal(['GET /cart 200']);
    expect(nodes('')).to.deep.equal(['']);
    expect(nodes('a\u001b[31;1mred\u001b[0m\n\u202e\0')).to.deep.equal(['ared↵<U+202E>␀']);
    const invisible = '\u00ad\u034f\u115f\u2029\u200d\u2066\u3164\ufeff\uffa0\ufffb\u{e0041}\u{e01ef}\ud800';
    const names = Array.from(invisible, (character) => {
      const code = character.codePointAt(0) ?? 0;
      return `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`;
    });
    expect(nodes(invisible)).to.deep.equal([names.join('')]);
    expect(nodes('\ttab, ⚠️ and é')).to.deep.equal(['\ttab, ⚠️ and é']);
    const [before, mark, after] = nodes('a \0b c', [[2, 4]]);
    expect([before, after]).to.deep.equal(['a ', ' c']);
    expect(mark).to.deep.include({ type: 'mark', props: { children: '␀b' } });
  });

  it('has at most a few hundred members', () => {
    const members = Array.from({ length: 9_000 }, (_, i) => `"${i}":1`).join();
    expect(fieldsOfLine(`{${members}}`)).to.have.length(200);
    expect(fieldsOfLine('{"__proto__":{"a":1},"constructor":"b"}')).to.deep.equal([
      ['__proto__', '{"a":1}'],
      ['constructor', 'b'],
    ]);
  });
});
