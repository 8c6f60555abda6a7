// Tests of the logger of the server.
import { expect } from 'chai';
import { createLogger } from '../../../../server/observability/logger.ts';

function logging(format: 'json' | 'text' = 'json') {
  const lines: string[] = [];
  return {
    lines,
    log: createLogger({ level: 'info', format }, { write: (line: string) => lines.push(line) }),
  };
}

describe('createLogger', () => {
  it('writes one JSON object per line, with level name and ISO 8601 time', () => {
    const { lines, log } = logging();
    log.debug('below the level');
    log.info({ port: 1 }, 'listening');
    const line: unknown = JSON.parse(lines[0] ?? '');
    expect(line).to.include({ level: 'info', message: 'listening', port: 1 });
    expect(line)
      .to.have.property('time')
      .that.matches(/^\d{4}-\d\d-\d\dT.*Z$/);
  });

  it('redacts secrets at any depth', () => {
    const { lines, log } = logging();
    log.info({
      password: 's3cret',
      headers: { inner: [{ token: 's3cret' }], authorization: 'Bearer s3cret', cookie: 's3cret' },
      client_secret: 's3cret',
    });
    expect(lines).to.have.length(1);
    expect(lines.join()).not.to.contain('s3cret');
  });

  it('writes the message, code and causes of an error only', () => {
    const { lines, log } = logging();
    const cause = Object.assign(new Error('refused'), { code: 'ECONNREFUSED', request: { token: 's3cret' } });
    log.error({ err: new Error('no cluster', { cause }) }, 'failed');
    expect(lines[0]).to.contain('no cluster').and.contain('ECONNREFUSED').and.not.contain('s3cret');
  });

  it('omits the stack of HTTP and system errors', () => {
    const { lines, log } = logging();
    const refused = Object.assign(new Error('refused'), { code: 'ECONNREFUSED', syscall: 'connect' });
    log.warn({ err: Object.assign(new Error('no cluster', { cause: refused }), { code: 503 }) }, 'failed');
    log.info(
      { err: Object.assign(new Error('not a client'), { code: 'invalid_request', status: 400 }) },
      'rejected',
    );
    log.warn({ err: new TypeError('a bug') }, 'failed');
    expect(lines[0]).not.to.contain('stack');
    expect(lines[1]).to.contain('not a client').and.not.to.contain('stack');
    expect(lines[2]).to.contain('stack');
  });

  it('writes no control characters of values to a terminal in the text format', () => {
    const { lines, log } = logging('text');
    log.warn(
      { namespace: 'a\u001b[31mb', agent: '\u009b31m', err: new Error('c\u001b]0;d\u0007\re') },
      'failed',
    );
    const [line = ''] = lines;
    expect(line).to.match(/namespace="a\\u001b\[31mb" agent="\?31m" err=/);
    expect(line).not.to.match(/[^\P{Cc}\n\t]/u);
  });

  it('writes the text format', () => {
    const { lines, log } = logging('text');
    log.warn({ port: 1, name: 'two words' }, 'odd');
    log.error({ err: new Error('broken') }, 'failed');
    expect(lines[0]).to.match(/^\d\d:\d\d:\d\d\.\d{3} WARN {2}odd port=1 name="two words"\n$/);
    expect(lines[1]).to.match(/ERROR failed err=broken\n {4}Error: broken\n {4}/);
  });
});
