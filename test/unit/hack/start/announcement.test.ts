// Tests of the text at the end of `npm start`.
import { expect } from 'chai';
import { namesFor } from '../../../../hack/generate/names.ts';
import { localAnnouncement } from '../../../../hack/start/announcement.ts';

describe('the text at the end of npm start', () => {
  const lines = (password: string | undefined, isSimulated = true): string[] =>
    localAnnouncement({
      names: namesFor('platform'),
      isSimulated,
      loadEnvironment: '. .local/env',
      server: {
        configFile: '',
        args: [],
        caFile: 'ca.crt',
        ports: { secure: 9443, insecure: 9090 },
        issuer: '',
      },
      administrator: { name: 'ada', password },
      logs: '',
      state: '',
    }).split('\n');

  it('has commands for pods and logs only if pods run', () => {
    const requests = (isSimulated: boolean): string =>
      lines('secret', isSimulated)
        .join('\n')
        .match(/(?<=v1alpha[23]\/)[^?]+/g)
        ?.join() ?? '';
    expect(requests(true)).to.equal('logs,namespaces/shop/pods');
    expect(requests(false)).to.equal('nodes');
  });

  it('has the password of the administrator, or the command that replaces the one of the user', () => {
    expect(lines('secret')).to.include('Password: secret');
    expect(lines(undefined).join('\n')).to.contain(
      'to replace it: . .local/env && npm run user -- password ada\n',
    );
  });
});
