// Tests of the writer of SVG.
import { expect } from 'chai';
import { element, text, wrapped } from '../../../../hack/charts/svg.ts';

describe('the writer of SVG', () => {
  it('escapes text and attributes', () => {
    expect(text(1, 2, '"><script>', '</text><script>a & b</script>').markup).to.equal(
      '<text x="1" y="2" class="&quot;&gt;&lt;script&gt;">&lt;/text&gt;&lt;script&gt;a &amp; b&lt;/script&gt;</text>',
    );
  });

  it('replaces characters that XML forbids', () => {
    expect(element('text', {}, 'a\u0000b\u001Bc\uFFFEd\uD800e😀').markup).to.equal(
      '<text>a\uFFFDb\uFFFDc\uFFFDd\uFFFDe😀</text>',
    );
  });

  it('wraps at spaces only', () => {
    expect(wrapped('one two averyveryverylongword three', 60)).to.deep.equal([
      'one two',
      'averyveryverylongword',
      'three',
    ]);
  });
});
