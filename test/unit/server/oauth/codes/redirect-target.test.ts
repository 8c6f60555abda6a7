// Tests of the comparison of redirect URIs.
import { expect } from 'chai';
import {
  displayHost,
  isRegistered,
  reachesOnlyClient,
  withParameters,
} from '../../../../../server/oauth/codes/redirect-target.ts';

describe('a redirect URI', () => {
  const registered = [
    'https://console.example.com/cb',
    'http://127.0.0.1/cb',
    'http://[::1]/cb',
    'http://localhost',
  ];

  it('must equal a registered URI', () => {
    expect(isRegistered('https://console.example.com/cb', registered)).to.equal(true);
    for (const other of [
      '',
      'https://console.example.com/cb/',
      'https://CONSOLE.example.com/cb',
      'https://console.example.com:443/cb',
      'https://console.example.com/cb?x=1',
      'https://console.example.com/x/../cb',
      'https://console.example.com.evil.example/cb',
      'https://user@console.example.com/cb',
    ]) {
      expect(isRegistered(other, registered), other).to.equal(false);
    }
  });

  it('may have any port on a loopback address, and no other difference', () => {
    for (const port of ['', ':80', ':1024', ':65535']) {
      expect(isRegistered(`http://127.0.0.1${port}/cb`, registered), port).to.equal(true);
      expect(isRegistered(`http://[::1]${port}/cb`, registered), port).to.equal(true);
      expect(isRegistered(`http://localhost${port}`, registered), port).to.equal(true);
    }
    for (const other of [
      'http://127.0.0.1:/cb',
      'http://127.0.0.1:65536/cb',
      'http://127.0.0.1:123456/cb',
      'http://127.0.0.1:80@evil.example/cb',
      'http://127.0.0.1:80\\@evil.example/cb',
      'http://127.0.0.1.evil.example/cb',
      'http://127.0.0.2/cb',
      'http://2130706433/cb',
      'http://127.0.0.1:80/cb/../x',
      'http://127.0.0.1:80/other',
      'https://127.0.0.1:80/cb',
      'http://localhost:8000/',
      'http://localhost:8000?next=x',
      'http://localhost.evil.example:8000',
    ]) {
      expect(isRegistered(other, registered), other).to.equal(false);
    }
  });

  it('must use https or a loopback address, and have no fragment and no unsafe scheme, even if registered', () => {
    for (const uri of [
      'http://console.example.com/cb',
      'http://127.0.0.2/cb',
      'https://console.example.com/cb#x',
      'javascript:alert(1)',
      'data:text/html,x',
      'https://console.example.com/ü',
      'relative',
    ]) {
      expect(isRegistered(uri, [uri]), uri).to.equal(false);
    }
    expect(isRegistered('com.example.app:/cb', ['com.example.app:/cb'])).to.equal(true);
  });

  it('reaches only its client with https, except a public client at a loopback address', () => {
    for (const uri of ['https://console.example.com/cb', 'https://localhost.example/', 'https://10.0.0.1/']) {
      expect(reachesOnlyClient(uri, true), uri).to.equal(true);
    }
    for (const host of [
      'localhost',
      'LOCALHOST.',
      'app.localhost',
      '127.0.0.1',
      '127.1',
      '[::1]',
      '[0:0::1]',
    ]) {
      const uri = `https://${host}:8443/cb`;
      expect([reachesOnlyClient(uri, true), reachesOnlyClient(uri, false)], host).to.deep.equal([
        false,
        true,
      ]);
    }
    for (const uri of ['http://127.0.0.1/cb', 'com.example.app:/cb']) {
      for (const isPublic of [true, false]) {
        expect(reachesOnlyClient(uri, isPublic, '127.0.0.1'), uri).to.equal(false);
      }
    }
  });

  it('reaches only its client at the loopback address of the server itself', () => {
    const uri = 'https://localhost:9443/explore/callback';
    expect(reachesOnlyClient(uri, true, 'localhost:9443')).to.equal(true);
    for (const host of ['localhost', 'localhost:9444', '127.0.0.1:9443', undefined]) {
      expect(reachesOnlyClient(uri, true, host), host).to.equal(false);
    }
  });

  it('keeps its text and query before the added parameters', () => {
    expect(withParameters('http://localhost:8000', { code: 'a+b&c', state: undefined })).to.equal(
      'http://localhost:8000?code=a%2Bb%26c',
    );
    expect(withParameters('https://a.example/cb?x=%20', { code: '1' })).to.equal(
      'https://a.example/cb?x=%20&code=1',
    );
  });

  it('is displayed as its host, or its scheme without host', () => {
    expect(displayHost('https://a.example:8443/cb')).to.equal('a.example:8443');
    expect(displayHost('com.example.app:/cb')).to.equal('com.example.app:');
  });
});
