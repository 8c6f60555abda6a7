// Tests of the controller that updates `spec.caBundle` of an APIService.
import { expect } from 'chai';
import { pino } from 'pino';
import { CertificateAuthority } from '../../../../hack/control-plane/certificate-authority.ts';
import { CaBundleController } from '../../../../server/registration/ca-bundle-controller.ts';
import {
  bookmark,
  type Call,
  event,
  list,
  refuse,
  ScriptedCluster,
  send,
} from '../../../support/cluster/scripted-cluster.ts';
import { until } from '../../../support/until.ts';

const NAME = 'v1alpha3.resources.platform.io';

function apiService(resourceVersion: number, caBundle: string): string {
  return JSON.stringify({
    metadata: { name: NAME, uid: 'u', resourceVersion: String(resourceVersion) },
    spec: { caBundle, service: { namespace: 'platform-system', name: 'ks-apiserver' } },
  });
}

describe('CaBundleController', () => {
  let own: string;
  let cluster: ScriptedCluster;
  let stream: Call['response'];
  /** The resourceVersion of the APIService and of its list. */
  let version: number;
  let patched: number;
  /** Responds to the patch with this number; the first is 1. */
  let answer: (patch: number, response: Call['response']) => void;
  let controller: CaBundleController;
  let warnings: string[];
  let stop: AbortController;
  let ended: Promise<void>;

  before(async () => {
    own = (await CertificateAuthority.create('serving@1')).cert;
  });

  beforeEach(async () => {
    patched = 0;
    version = 1;
    warnings = [];
    stop = new AbortController();
    cluster = await ScriptedCluster.start(({ kind, request, response }) => {
      if (request.method === 'PATCH') answer(++patched, response);
      else if (kind === 'stream') {
        stream = response;
        send(response, event('ADDED', apiService(version, '')), bookmark(version, true));
      } else if (kind === 'position') list(response, version);
    });
    controller = new CaBundleController(NAME, {
      client: cluster.connect(),
      servingCA: { current: () => own, onChange: () => () => undefined },
      log: pino({ level: 'warn' }, { write: (line) => warnings.push(String(JSON.parse(line).msg)) }),
      retryMs: 1,
    });
  });

  afterEach(async () => {
    stop.abort();
    await ended;
    await cluster.stop();
  });

  function written(response: Call['response'], patch: number): void {
    const caBundle = Buffer.from(own).toString('base64');
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(apiService(version + 2 * patch - 1, caBundle));
  }

  it('logs a repeated write failure once, and suspects no other controller', async () => {
    answer = (patch, response) => {
      if (patch <= 6) refuse(response, 503, 'ServiceUnavailable');
      else written(response, patch);
    };
    ended = controller.run(stop.signal);
    await until(() => controller.trusted);
    expect(warnings).to.deep.equal(['cannot set spec.caBundle, retrying']);
  });

  it('warns when another controller keeps reverting its corrections', async () => {
    answer = (patch, response) => {
      written(response, patch);
      if (patch <= 4) send(stream, event('MODIFIED', apiService(2 * patch + 1, '')));
    };
    ended = controller.run(stop.signal);
    await until(() => patched === 5 && controller.trusted);
    expect(warnings).to.deep.equal([
      'another controller keeps changing spec.caBundle: stop it, or set registration.manageCABundle to false',
    ]);
  });
});
