// Tests of the state that the response to a read must contain.
import { expect } from 'chai';
import { encodeContinue } from '../../../../../apis/meta/v1/continue-token.ts';
import { isKnownMedia, requirementOf } from '../../../../../server/gateway/acceleration/cached-read.ts';
import { parseRequestInfo } from '../../../../../server/request/request-info.ts';

const PODS = '/api/v1/pods';
const POD = '/api/v1/namespaces/a/pods/p';

/** Requests, and their requirement: its freshness or resourceVersion, or the reason to forward the request. */
const EXPECTED: readonly (readonly [string, string])[] = [
  [PODS, 'current'],
  [`${PODS}?limit=500`, 'current'],
  [`${PODS}?resourceVersion=0`, 'any'],
  [`${PODS}?resourceVersion=0&limit=500`, 'any'],
  [`${PODS}?resourceVersion=0&resourceVersionMatch=NotOlderThan`, 'any'],
  [`${PODS}?resourceVersion=7`, '7'],
  [`${PODS}?resourceVersion=7&limit=5&resourceVersionMatch=NotOlderThan`, '7'],
  [`${PODS}?resourceVersion=7&limit=5`, 'exact'],
  [`${PODS}?resourceVersion=7&resourceVersionMatch=Exact`, 'exact'],
  [`${PODS}?resourceVersion=0&resourceVersionMatch=Exact`, 'parameter'],
  [`${PODS}?resourceVersionMatch=NotOlderThan`, 'parameter'],
  [`${PODS}?continue=${encodeContinue({ resourceVersion: '7', after: 'a/b' })}&limit=5`, '7'],
  [`${PODS}?continue=${encodeContinue({ resourceVersion: '-1', after: 'a/b' })}`, 'continue'],
  [
    `${PODS}?continue=${encodeContinue({ resourceVersion: '7', after: 'a/b' })}&resourceVersion=0`,
    'continue',
  ],
  [`${PODS}?continue=abc&limit=5`, 'parameter'],
  [`${PODS}?resourceVersion=0&unknown=1`, 'parameter'],
  [`${PODS}?resourceVersion=0&pretty=1`, 'parameter'],
  [`${PODS}?resourceVersion=0&labelSelector=a&labelSelector=b`, 'parameter'],
  [`${PODS}?resourceVersion=-1`, 'parameter'],
  [`${PODS}?resourceVersion=0&limit=x`, 'parameter'],
  [`${PODS}?resourceVersion=0&sendInitialEvents=true`, 'parameter'],
  [`${PODS}?watch=1`, 'parameter'],
  [`${PODS}?watch=1&resourceVersion=0`, 'any'],
  [`${PODS}?watch=1&resourceVersion=7`, '7'],
  [`${PODS}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan`, 'current'],
  [`${PODS}?watch=1&sendInitialEvents=false&resourceVersionMatch=NotOlderThan`, 'parameter'],
  [`${PODS}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=7`, '7'],
  [POD, 'current-get'],
  [`${POD}?resourceVersion=0`, 'any'],
  [`${POD}?resourceVersion=7`, '7'],
  [`${POD}?resourceVersion=x`, 'parameter'],
];

describe('the requirement of', () => {
  for (const [target, expected] of EXPECTED) {
    it(`${target}: ${expected}`, () => {
      const info = parseRequestInfo('GET', target);
      if (!info.isResourceRequest) throw new Error('no resource');
      const found = requirementOf(info, new URL(target, 'http://a').searchParams);
      const name = typeof found === 'string' ? found : found.freshness;
      expect(typeof found === 'object' && 'version' in found ? found.version : name).to.equal(expected);
    });
  }
});

const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';
const METADATA = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io';
const METADATA_LIST = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io';

describe('isKnownMedia', () => {
  const known = {
    'no header': '',
    curl: '*/*',
    axios: 'application/json, text/plain, */*',
    'client-go with protobuf': 'application/vnd.kubernetes.protobuf,application/json',
    'a watch': 'application/json;stream=watch',
    'kubectl get': `${TABLE},application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json`,
    'a Java client': 'text/html, image/gif, application/json; q=0.2, */*; q=1.0',
    blanks: 'application/json ; as = Table ; v = v1 ; g = meta.k8s.io',
  };
  for (const [client, accept] of Object.entries(known)) {
    it(`knows the header of ${client}`, () => {
      for (const verb of ['get', 'list', 'watch']) expect(isKnownMedia({ verb }, accept)).to.equal(true);
    });
  }

  const unknown = [
    '*',
    'application/*',
    'application/json, application/yaml',
    'application/json, application/cbor;q=0.1',
    'APPLICATION/JSON',
    'application/json;q=0',
    'application/json;q=',
    'application/json;q=2',
    'application/json;q=x',
    'application/json;as=table',
    'application/json;as=Table;g=other',
    'application/json;profile=x',
    'application/json,',
    'application/json;',
  ];
  for (const accept of unknown) {
    it(`does not know ${accept}`, () => {
      for (const verb of ['get', 'list', 'watch']) expect(isKnownMedia({ verb }, accept)).to.equal(false);
    });
  }

  it('knows the metadata of a list in a list, and of an object elsewhere', () => {
    expect(isKnownMedia({ verb: 'list' }, METADATA_LIST)).to.equal(true);
    expect(isKnownMedia({ verb: 'list' }, METADATA)).to.equal(false);
    for (const verb of ['get', 'watch']) {
      expect(isKnownMedia({ verb }, METADATA)).to.equal(true);
      expect(isKnownMedia({ verb }, METADATA_LIST)).to.equal(false);
    }
  });
});
