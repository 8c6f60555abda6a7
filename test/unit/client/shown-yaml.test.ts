// Tests of hiding parts of the YAML of an object. The end-to-end tests use the YAML of a real kube-apiserver.
import { expect } from 'chai';
import { shownYAML } from '../../../client/shown-yaml.ts';

const NOTHING = { managedFields: false, secrets: false };

const SECRET = `apiVersion: v1
data:
  "yes": c2VjcmV0
  'quoted: key': c2VjcmV0
  ? ${'long'.repeat(40)}
  : c2VjcmV0
  folded: c2VjcmV0
    c2VjcmV0
  literal: |
    c2VjcmV0

    data: c2VjcmV0
kind: Secret
metadata:
  annotations:
    kubectl.kubernetes.io/last-applied-configuration: |
      {"data":{"a":"c2VjcmV0"}}
    note: |
      kept
  managedFields:
  - apiVersion: v1
    fieldsV1:
      f:data: {}
    manager: kubectl
  name: db
type: Opaque
`;

describe('the shown YAML', () => {
  it('has no value of a Secret, however it is written, and all keys', () => {
    const text = shownYAML(SECRET, true, NOTHING);
    expect(text).not.to.include('c2VjcmV0');
    for (const kept of [
      '"yes": ••',
      "'quoted: key': ••",
      `${'long'.repeat(40)}: ••`,
      'folded: ••',
      'literal: ••',
      '      kept\n',
      'type: Opaque',
    ])
      expect(text).to.include(kept);
    expect(shownYAML(SECRET, true, { managedFields: true, secrets: false })).not.to.include('c2VjcmV0');
    expect(shownYAML(SECRET, true, { managedFields: true, secrets: true })).to.equal(SECRET);
  });

  it('has no managed fields, and everything else', () => {
    const text = shownYAML(SECRET, false, NOTHING);
    expect(text).to.equal(SECRET.replace(/ {2}managedFields:\n(?: {2}[- ].*\n)+(?= {2}name)/, ''));
  });

  it('keeps a text that looks like managed fields', () => {
    const yaml =
      'data:\n  managedFields: |\n    metadata:\n      managedFields:\n      - a\n  metadata: b\nspec:\n  managedFields:\n  - c\n';
    expect(shownYAML(yaml, false, NOTHING)).to.equal(yaml);
  });

  it('reads a hostile line of the maximum size of an object in linear time', () => {
    const yaml = `data:\n  key: |\n    a${': '.repeat(500_000)}\u2028    b\n`;
    expect(shownYAML(yaml, false, NOTHING)).to.equal(yaml);
  });
});
