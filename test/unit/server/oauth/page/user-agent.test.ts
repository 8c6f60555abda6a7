// Tests of the short form of User-Agent headers.
import { expect } from 'chai';
import { shortUserAgent } from '../../../../../server/oauth/page/user-agent.ts';

const WEBKIT = 'AppleWebKit/537.36 (KHTML, like Gecko)';

describe('shortUserAgent', () => {
  for (const [header, shown] of [
    ['Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0', 'Firefox on Linux'],
    [
      `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${WEBKIT} Chrome/140.0 Safari/537.36 Edg/140.0`,
      'Edge on Windows',
    ],
    [`Mozilla/5.0 (Linux; Android 15) ${WEBKIT} Chrome/140.0 Mobile Safari/537.36`, 'Chrome on Android'],
    [
      `Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${WEBKIT} Version/18.0 Safari/605.1.15`,
      'Safari on macOS',
    ],
    [
      `Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) ${WEBKIT} CriOS/140.0 Safari/604.1`,
      'Chrome on iPhone',
    ],
    ['kubelogin/v1.34.0 (linux/amd64)', 'kubelogin/v1.34.0'],
    ['a'.repeat(256), 'a'.repeat(40)],
    ['Firefox/1', 'Firefox'],
    ['', ''],
  ] as const) {
    it(`shows ${JSON.stringify(shown)}`, () => {
      expect(shortUserAgent(header)).to.equal(shown);
    });
  }
});
