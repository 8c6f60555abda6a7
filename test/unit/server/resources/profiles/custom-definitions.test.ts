// Tests of reading CustomResourceDefinitions.
import { expect } from 'chai';
import type { CustomDefinition } from '../../../../../server/resources/kind.ts';
import { customDefinitions } from '../../../../../server/resources/profiles/custom-definitions.ts';

/** Returns the definition of the version v1. `spec`, `status`: JSON. */
function definition(spec: string, status = '{}', uid = 'uid-1'): CustomDefinition | undefined {
  const metadata = JSON.stringify({ name: 'widgets.example.com', uid });
  const object = `{"metadata":${metadata},"spec":${spec},"status":${status}}`;
  return customDefinitions(JSON.parse(object), Buffer.from(object)).get('v1');
}

function specOf(schema: string): string {
  const columns = '[{"name":"Size","type":"integer","jsonPath":".spec.size"}]';
  return `{"versions":[{"name":"v1","additionalPrinterColumns":${columns},"schema":${schema}}]}`;
}

describe('customDefinitions', () => {
  it('contains a definition with a deeply nested schema', () => {
    const depth = 9_900;
    const schema = `{"openAPIV3Schema":{"default":${'['.repeat(depth)}${']'.repeat(depth)}}}`;
    expect(definition(specOf(schema))?.columns).to.deep.equal([
      { name: 'Size', type: 'integer', jsonPath: '.spec.size', format: '', description: '', priority: 0 },
    ]);
  });

  it('stores only the start of long texts of a column', () => {
    const long = {
      name: 'Size',
      type: 'integer',
      format: 'f'.repeat(9_000),
      jsonPath: '.spec.size',
      priority: 1,
    };
    const columns = [{ ...long, description: 'd'.repeat(9_000) }];
    const spec = { versions: [{ name: 'v1', additionalPrinterColumns: columns }] };
    expect(definition(JSON.stringify(spec))?.columns).to.deep.equal([
      { ...long, format: 'f'.repeat(63), description: 'd'.repeat(1_024) },
    ]);
  });

  it('has another revision after a change of the spec, and for another definition of the same name', () => {
    const revision = (one: CustomDefinition | undefined) => one?.revision;
    const first = revision(definition(specOf('{}')));
    expect(revision(definition(specOf('{}'), '{"conditions":[]}'))).to.equal(first);
    expect(revision(definition(specOf('{"a":1}')))).not.to.equal(first);
    expect(revision(definition(specOf('{}'), '{}', 'uid-2'))).not.to.equal(first);
  });
});
