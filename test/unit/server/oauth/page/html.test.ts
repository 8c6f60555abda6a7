// Tests of the HTML templates.
import { expect } from 'chai';
import { html } from '../../../../../server/oauth/page/html.ts';

describe('the HTML template tag', () => {
  it('escapes values in elements and in attributes', () => {
    const value = `"><script>alert('&')</script>`;
    expect(html`<p title="${value}">${value}</p>`.text).to.equal(
      '<p title="&quot;&gt;&lt;script&gt;alert(&#39;&amp;&#39;)&lt;/script&gt;">' +
        '&quot;&gt;&lt;script&gt;alert(&#39;&amp;&#39;)&lt;/script&gt;</p>',
    );
  });

  it('inserts markup unchanged, one piece or several, and nothing for undefined', () => {
    const items = ['a', '<b>'].map((item) => html`<li>${item}</li>`);
    expect(html`<ul>${items}</ul>${undefined}${html`<hr>`}${1}`.text).to.equal(
      '<ul><li>a</li><li>&lt;b&gt;</li></ul><hr>1',
    );
  });
});
