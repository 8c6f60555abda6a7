// Tests of the index of CustomResourceDefinitions.
import { expect } from 'chai';
import { CustomDefinitions } from '../../../../../server/resources/kinds/custom-definitions.ts';

const NAME = 'widgets.example.com';

/** `spec`, `status`: JSON. */
function added(spec: string, status = '{}', uid = 'uid-1'): CustomDefinitions {
  const definitions = new CustomDefinitions(() => undefined);
  const metadata = JSON.stringify({ name: NAME, uid });
  const object = Buffer.from(`{"metadata":${metadata},"spec":${spec},"status":${status}}`);
  definitions.apply('ADDED', object);
  return definitions;
}

function specOf(schema: string): string {
  const columns = '[{"name":"Size","type":"integer","jsonPath":".spec.size"}]';
  return `{"versions":[{"name":"v1","additionalPrinterColumns":${columns},"schema":${schema}}]}`;
}

describe('the index of CustomResourceDefinitions', () => {
  it('contains a definition with a deeply nested schema', () => {
    const depth = 9_900;
    const schema = `{"openAPIV3Schema":{"default":${'['.repeat(depth)}${']'.repeat(depth)}}}`;
    expect(added(specOf(schema)).of(NAME, 'v1')?.columns).to.deep.equal([
      { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
    ]);
  });

  it('has another revision after a change of the spec, and for another definition of the same name', () => {
    const revision = (definitions: CustomDefinitions) => definitions.of(NAME, 'v1')?.revision;
    const first = revision(added(specOf('{}')));
    expect(revision(added(specOf('{}'), '{"conditions":[]}'))).to.equal(first);
    expect(revision(added(specOf('{"a":1}')))).not.to.equal(first);
    expect(revision(added(specOf('{}'), '{}', 'uid-2'))).not.to.equal(first);
  });
});
