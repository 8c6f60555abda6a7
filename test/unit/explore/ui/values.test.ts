// Tests of short texts.
import { expect } from 'chai';
import { visibleText } from '../../../../client/line-text.ts';
import { exactTime } from '../../../../explore/ui/values.ts';

describe('the exact time of an age', () => {
  it('has no characters that the page shows by their names, in any language', () => {
    for (const language of ['en', 'ar-EG', 'fa', 'he', 'fr']) {
      const text = exactTime(new Date('2026-11-30T12:34:56Z'), language);
      expect(visibleText(text), language).to.equal(text);
    }
  });
});
