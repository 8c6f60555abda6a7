// Tests of how hostile log lines are shown.
import { expect } from 'chai';
import { fieldsIn, LineText } from '../../../../explore/logs/line-text.ts';

const nodes = (text: string, highlights: [number, number][] = []): unknown[] =>
  LineText({ text, highlights, limit: 50_000 }) as unknown[];

describe('the text of a line', () => {
  it('is at most a few hundred elements, so that hostile lines do not freeze the page', () => {
    const matches = Array.from({ length: 25_000 }, (_, i): [number, number] => [i * 2, i * 2 + 1]);
    for (const [text, highlights] of [
      ['\u200b'.repeat(50_000), []],
      ['a\0'.repeat(25_000), []],
      ['\u001b[31ma\u001b[32mb'.repeat(4_000), []],
      ['ab'.repeat(25_000), matches],
    ] as const) {
      const shown = nodes(text, [...highlights]);
      expect(shown).to.have.length.within(100, 400);
      expect(JSON.stringify(shown.at(-1))).to.match(/… \d+ more characters/);
    }
  });

  it('is complete in all other lines', () => {
    expect(nodes('GET /cart 200')).to.deep.equal(['GET /cart 200']);
    expect(nodes('')).to.deep.equal([]);
    expect(JSON.stringify(nodes('\u001b[31mred\u001b[0m', [[5, 6]]))).to.not.contain('more characters');
  });

  it('has at most a few hundred members', () => {
    const members = Array.from({ length: 9_000 }, (_, i) => `"${i}":1`).join();
    expect(fieldsIn(`{${members}}`)).to.have.length(200);
    expect(fieldsIn('{"__proto__":{"a":1},"constructor":"b"}')).to.deep.equal([
      ['__proto__', '{"a":1}'],
      ['constructor', 'b'],
    ]);
  });
});
