// Tests of the conversion of OpenSearch errors to StatusErrors.
import { expect } from 'chai';
import { errorOf, isMissing } from '../../../../../../server/logging/backends/opensearch/error-response.ts';
import { unfitOptionIn } from '../../../../../../server/logging/configuration-errors.ts';

const body = (type: string, reason = ''): string =>
  JSON.stringify({ error: { root_cause: [{ type, reason }], type, reason } });

describe('an error response of OpenSearch', () => {
  it('is a missing index only with status 404 and the type of the exception', () => {
    expect(isMissing(404, body('index_not_found_exception'))).to.equal(true);
    expect(isMissing(500, body('index_not_found_exception'))).to.equal(false);
    expect(isMissing(404, '<html>index_not_found_exception</html>')).to.equal(false);
  });

  it('because of a setting says what to change, to the caller and to the operator', () => {
    const setting = 'action.search.shard_count.limit';
    const reason = `That is too much. This limit can be set by changing the [${setting}] setting.`;
    const error = errorOf(400, body('rejected_execution_exception', reason));
    expect(error.code).to.equal(400);
    expect(error.message)
      .to.match(/start_time: .*shorter range/)
      .and.not.to.include('too much.');
    expect(unfitOptionIn(error)).to.include({ option: 'logging.opensearch' });
    expect(unfitOptionIn(error)?.reason).to.include(setting);
  });

  for (const [what, status, text, code] of [
    ['a gateway timeout', 504, '<html>', 504],
    ['a timeout', 500, body('timeout_exception'), 504],
    ['a cancelled task', 400, body('task_cancelled_exception'), 504],
    ['another failure', 500, body('null_pointer_exception', 'at 10.0.0.1'), 503],
  ] as const) {
    it(`for ${what} is a ${code} without the message of the store`, () => {
      const error = errorOf(status, text);
      expect(error.code).to.equal(code);
      expect(error.message).not.to.match(/exception|10\.0\.0\.1|html/);
    });
  }
});
