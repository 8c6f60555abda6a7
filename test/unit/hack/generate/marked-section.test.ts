// Tests of the replacement of generated sections in Markdown documents.
import { expect } from 'chai';
import { replaceSection } from '../../../../hack/generate/marked-section.ts';

const TEXT = 'before\n<!-- generated: t -->\nold\n<!-- end: t -->\nafter\n';

describe('a generated section of a document', () => {
  it('is replaced without changes around it', () => {
    expect(replaceSection(TEXT, 't', 'new')).to.equal(
      'before\n<!-- generated: t -->\n\nnew\n\n<!-- end: t -->\nafter\n',
    );
  });

  it('stays the same if nothing changed', () => {
    const once = replaceSection(TEXT, 't', 'new');
    expect(replaceSection(once, 't', 'new')).to.equal(once);
  });

  for (const [fault, text] of [
    ['no marker', 'text'],
    ['no end', '<!-- generated: t -->'],
    ['the end first', '<!-- end: t --><!-- generated: t -->'],
    ['two of them', TEXT + TEXT],
  ]) {
    it(`is rejected: ${fault}`, () => {
      expect(() => replaceSection(text ?? '', 't', 'new')).to.throw('markers');
    });
  }
});
