// Tests of the command line of `npm run login`.
import { expect } from 'chai';
import { UsageError } from '../../../apis/reading/command-line.ts';
import { getTokenArguments, parseArguments } from '../../../login/arguments.ts';

describe('the command line of npm run login', () => {
  it('has the address of a server, with or without the path of the issuer, or none for a further sign-in', () => {
    for (const address of [
      'https://api.example.com',
      'https://api.example.com/',
      'https://API.example.com:443/oauth',
    ]) {
      expect(parseArguments([address, '--ca=ca.crt', '--device'])).to.deep.include({
        command: 'login',
        server: 'https://api.example.com',
        caFile: 'ca.crt',
        device: true,
      });
    }
    const parsed = parseArguments(['--context', 'prod']);
    expect(parsed).to.deep.include({ command: 'login', server: undefined, context: 'prod', device: false });
  });

  it('rejects other addresses, because tokens are sent over TLS and the issuer has one path', () => {
    const addresses = [
      'http://api.example.com',
      'api.example.com',
      'https://api.example.com/x',
      'https://user@api.example.com',
      'https://api.example.com?x=1',
      'https://api.example.com#x',
    ];
    for (const address of addresses) {
      expect(() => parseArguments([address]), address).to.throw(UsageError, address);
    }
  });

  it('rejects unknown flags, missing and empty values, and unexpected arguments in one line', () => {
    for (const args of [
      ['--cA'],
      ['--ca'],
      ['--ca='],
      ['https://a', 'b'],
      ['logout', 'b'],
      ['get-token', 'https://a'],
    ]) {
      expect(() => parseArguments(args), args.join(' '))
        .to.throw(UsageError)
        .with.property('message')
        .that.matches(/^[^\n]+$/);
    }
  });

  it('reads the arguments that kubectl passes', () => {
    const target = { server: 'https://api.example.com', context: 'a b', clientID: '-c' };
    expect(parseArguments(getTokenArguments(target))).to.deep.equal({
      command: 'get-token',
      target,
      caFile: undefined,
    });
  });
});
