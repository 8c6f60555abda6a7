import { expect } from 'chai';
import {
  isMissing,
  refusal,
} from '../../../../../../../server/logging/backends/opensearch/connection/refusal.ts';
import { unfitOptionIn } from '../../../../../../../server/logging/configuration-errors.ts';
import { createLogger } from '../../../../../../../server/observability/logger.ts';

const said = (type: string, reason = ''): string =>
  JSON.stringify({ error: { root_cause: [{ type, reason }], type, reason } });

describe('a refusal of OpenSearch', () => {
  it('tells of no index only as 404, and a 404 only with those words', () => {
    expect(isMissing(404, said('index_not_found_exception'))).to.equal(true);
    expect(isMissing(404, said('search_context_missing_exception'))).to.equal(true);
    expect(isMissing(500, said('index_not_found_exception'))).to.equal(false);
    expect(isMissing(404, '<html>index_not_found_exception</html>')).to.equal(false);
  });

  it('names the section with the credentials where those are refused', () => {
    const error = refusal(401, '{"error":"Unauthorized"}');
    expect(error.code).to.equal(503);
    expect(unfitOptionIn(error)?.option).to.equal('logging.opensearch');
  });

  it('has what the store said, and no stack, for the log', () => {
    const lines: string[] = [];
    const log = createLogger({ level: 'info', format: 'json' }, { write: (line) => lines.push(line) });
    log.warn({ err: refusal(502, '<html>') }, 'failed');
    expect(lines[0]).to.include('"cause":{"type":"Error","message":"status 502: <html>"}');
  });

  for (const [setting, code, told, option] of [
    ['action.search.shard_count.limit', 400, /start_time: .*ask for a shorter time/, 'logging.opensearch'],
    ['point_in_time.max_keep_alive', 503, /try again later/, 'logging.opensearch'],
    ['search.max_keep_alive', 503, /try again later/, 'logging.opensearch'],
    ['search.max_open_pit_context', 503, /no room for this export .*ask for a shorter time/, undefined],
  ] as const) {
    it(`because of ${setting} tells who asks, and who runs the store, what can be done`, () => {
      const reason = `That is too much. This limit can be set by changing the [${setting}] setting.`;
      const error = refusal(code === 400 ? 400 : 429, said('rejected_execution_exception', reason));
      expect(error.code).to.equal(code);
      expect(error.message).to.match(told).and.not.to.include('too much.');
      const unfit = unfitOptionIn(error);
      expect(unfit?.option).to.equal(option);
      if (unfit) expect(unfit.reason).to.include(setting);
    });
  }

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
