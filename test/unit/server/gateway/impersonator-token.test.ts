// Tests of the token of the impersonator: its lifetime, and responses that a real kube-apiserver does not send on
// demand.
import { expect } from 'chai';
import { pino } from 'pino';
import { StatusError } from '../../../../apis/meta/v1/errors.ts';
import { ImpersonatorToken, LIFETIME_SECONDS } from '../../../../server/gateway/impersonator-token.ts';
import { rejection } from '../../../support/rejection.ts';

const LIFETIME = LIFETIME_SECONDS * 1000;

describe('the token of the impersonator', () => {
  const { signal } = new AbortController();
  let now: number;
  let requests: unknown[];
  let respond: () => Promise<unknown>;
  let token: ImpersonatorToken;

  beforeEach(() => {
    now = 1_000_000;
    requests = [];
    respond = async () => issued(`token-${requests.length}`, LIFETIME);
    token = new ImpersonatorToken({
      client: {
        json: (request) => {
          requests.push(request);
          return respond();
        },
      },
      namespace: 'platform-system',
      serviceAccount: 'impersonator',
      log: pino({ level: 'silent' }),
      signal,
      now: () => now,
    });
  });

  function issued(text: string, lifetime: number): unknown {
    return { spec: { expirationSeconds: lifetime / 1000 }, status: { token: text } };
  }

  it('is requested once for concurrent callers, and used until most of its lifetime has passed', async () => {
    expect(await Promise.all([token.get(signal), token.get(signal)])).to.deep.equal(['token-1', 'token-1']);
    now += LIFETIME * 0.79;
    expect(await token.get(signal)).to.equal('token-1');
    now += LIFETIME * 0.02;
    expect(await token.get(signal)).to.equal('token-2');
    expect(requests).to.have.lengthOf(2);
    // kube-apiserver may issue a shorter lifetime.
    respond = async () => issued(`token-${requests.length}`, LIFETIME / 6);
    now += LIFETIME;
    expect(await token.get(signal)).to.equal('token-3');
    now += LIFETIME / 7;
    expect(await token.get(signal)).to.equal('token-4');
  });

  it('is replaced after a rejection, once for all callers that had it', async () => {
    await token.get(signal);
    expect(await Promise.all([token.get(signal, 'token-1'), token.get(signal, 'token-1')])).to.deep.equal([
      'token-2',
      'token-2',
    ]);
    expect(await token.get(signal, 'token-1')).to.equal('token-2');
    expect(requests).to.have.lengthOf(2);
  });

  it('is 503 with the component to install if it is not issued, and is requested again', async () => {
    respond = () => Promise.reject(new StatusError(403, 'Forbidden', 'may not'));
    expect(await rejection(Promise.resolve(token.get(signal))))
      .to.include({ code: 503 })
      .and.to.have.property('message')
      .that.contains(
        'ServiceAccount platform-system/impersonator; install the component gateway-impersonation',
      );
    expect(token.describe()).to.contain('install the component gateway-impersonation');
    respond = () => Promise.reject(new StatusError(503, 'ServiceUnavailable', 'unreachable'));
    const outage = await rejection(Promise.resolve(token.get(signal)));
    expect(outage).to.include({ code: 503, message: 'unreachable' });
    respond = async () => issued('later', LIFETIME);
    expect(await token.get(signal)).to.equal('later');
    expect(token.describe()).to.equal(
      'impersonates callers with ServiceAccount platform-system/impersonator',
    );
  });

  it('is 503 for a response without a token', async () => {
    for (const response of [
      {},
      { status: { token: 'a' } },
      { spec: { expirationSeconds: 'soon' }, status: { token: 'a' } },
      { spec: { expirationSeconds: 600 }, status: { token: 1 } },
    ]) {
      respond = async () => response;
      expect(await rejection(Promise.resolve(token.get(signal)))).to.have.property('code', 503);
    }
  });

  it('leaves a caller that disconnects, and is still received for the others', async () => {
    const { promise, resolve } = Promise.withResolvers<unknown>();
    respond = () => promise;
    const leaving = new AbortController();
    const left = rejection(Promise.resolve(token.get(leaving.signal)));
    const waiting = token.get(signal);
    leaving.abort(new Error('disconnected'));
    expect((await left).message).to.equal('disconnected');
    resolve(issued('late', LIFETIME));
    expect(await waiting).to.equal('late');
    expect(requests).to.have.lengthOf(1);
  });
});
