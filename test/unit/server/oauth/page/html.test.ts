import { expect } from 'chai';
import { html } from '../../../../../server/oauth/page/html.ts';

describe('a page', () => {
  it('shows what others say as text, in elements and in attributes', () => {
    const said = `"><script>alert('&')</script>`;
    expect(html`<p title="${said}">${said}</p>`.text).to.equal(
      '<p title="&quot;&gt;&lt;script&gt;alert(&#39;&amp;&#39;)&lt;/script&gt;">' +
        '&quot;&gt;&lt;script&gt;alert(&#39;&amp;&#39;)&lt;/script&gt;</p>',
    );
  });

  it('takes markup of its own as it is, one piece or many, and nothing for nothing', () => {
    const items = ['a', '<b>'].map((item) => html`<li>${item}</li>`);
    expect(html`<ul>${items}</ul>${undefined}${html`<hr>`}${1}`.text).to.equal(
      '<ul><li>a</li><li>&lt;b&gt;</li></ul><hr>1',
    );
  });
});
