import { expect } from 'chai';
import {
  isMissing,
  refusal,
} from '../../../../../../../server/logging/backends/opensearch/requests/refusal.ts';

const said = (type: string, reason = ''): string =>
  JSON.stringify({ error: { root_cause: [{ type, reason }], type, reason } });

describe('a refusal of OpenSearch', () => {
  it('tells of no index only as 404, and a 404 only with those words', () => {
    expect(isMissing(404, said('index_not_found_exception'))).to.equal(true);
    expect(isMissing(404, said('search_context_missing_exception'))).to.equal(true);
    expect(isMissing(500, said('index_not_found_exception'))).to.equal(false);
    expect(isMissing(404, '<html>index_not_found_exception</html>')).to.equal(false);
  });

  for (const [what, status, text, code] of [
    ['no time, by a proxy in front of it', 504, '<html>', 504],
    ['no time', 500, said('timeout_exception'), 504],
    ['a task that was ended', 400, said('task_cancelled_exception'), 504],
    ['something else', 500, said('null_pointer_exception', 'at 10.0.0.1'), 503],
  ] as const) {
    it(`for ${what} is a ${code}, without the words of the store`, () => {
      const error = refusal(status, text);
      expect(error.code).to.equal(code);
      expect(error.message).not.to.match(/exception|10\.0\.0\.1|html/);
    });
  }
});
