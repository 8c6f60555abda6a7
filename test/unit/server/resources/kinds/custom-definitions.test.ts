// Tests of the index of CustomResourceDefinitions.
import { expect } from 'chai';
import type { CustomDefinition } from '../../../../../server/resources/kind.ts';
import { customDefinitions } from '../../../../../server/resources/kinds/custom-definitions.ts';
import { NamedObjects } from '../../../../../server/resources/kinds/watched-objects.ts';

const NAME = 'widgets.example.com';

/** Returns the definition of the version v1. `spec`, `status`: JSON. */
function added(spec: string, status = '{}', uid = 'uid-1'): CustomDefinition | undefined {
  const definitions = new NamedObjects(customDefinitions, () => undefined);
  const metadata = JSON.stringify({ name: NAME, uid });
  const object = Buffer.from(`{"metadata":${metadata},"spec":${spec},"status":${status}}`);
  definitions.apply('ADDED', object);
  return definitions.get(NAME)?.get('v1');
}

function specOf(schema: string): string {
  const columns = '[{"name":"Size","type":"integer","jsonPath":".spec.size"}]';
  return `{"versions":[{"name":"v1","additionalPrinterColumns":${columns},"schema":${schema}}]}`;
}

describe('the index of CustomResourceDefinitions', () => {
  it('contains a definition with a deeply nested schema', () => {
    const depth = 9_900;
    const schema = `{"openAPIV3Schema":{"default":${'['.repeat(depth)}${']'.repeat(depth)}}}`;
    expect(added(specOf(schema))?.columns).to.deep.equal([
      { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
    ]);
  });

  it('has another revision after a change of the spec, and for another definition of the same name', () => {
    const revision = (definition: CustomDefinition | undefined) => definition?.revision;
    const first = revision(added(specOf('{}')));
    expect(revision(added(specOf('{}'), '{"conditions":[]}'))).to.equal(first);
    expect(revision(added(specOf('{"a":1}')))).not.to.equal(first);
    expect(revision(added(specOf('{}'), '{}', 'uid-2'))).not.to.equal(first);
  });
});
