import { expect } from 'chai';
import { acceptsGzip } from '../../../../server/endpoints/content-encoding.ts';

function accepts(header: string | undefined): boolean {
  return acceptsGzip({ headers: header === undefined ? {} : { 'accept-encoding': header } });
}

describe('acceptsGzip', () => {
  for (const header of [
    'gzip',
    'br, gzip',
    'gzip;q=0.5',
    ' gzip ; q=1.0',
    'identity, gzip',
    'identity;q=0.5, gzip',
  ]) {
    it(`is true of ${header}`, () => expect(accepts(header)).to.equal(true));
  }

  for (const header of [undefined, '', 'br', 'x-gzip', 'gzip;q=0', 'gzip;q=0.000', 'identity, gzip;q=0.1']) {
    it(`is false of ${String(header)}`, () => expect(accepts(header)).to.equal(false));
  }
});
