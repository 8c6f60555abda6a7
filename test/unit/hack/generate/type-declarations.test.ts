// Tests of the TypeScript declarations for schemas of OpenAPI.
import { expect } from 'chai';
import { type OpenAPI, type Schema, typeDeclarations } from '../../../../hack/generate/type-declarations.ts';

const document = (schemas: Readonly<Record<string, Schema>>): OpenAPI => ({
  components: { schemas },
  paths: {
    '/pods': {
      get: {
        parameters: [
          { name: 'q', in: 'query', description: 'A text.', schema: { type: 'string' } },
          { name: 'names', in: 'query', schema: { type: 'array', items: { type: 'string' } } },
          { name: 't', in: 'query', schema: { type: 'string' } },
          { name: 'If-None-Match', in: 'header', schema: { type: 'string' } },
        ],
      },
    },
  },
});

const declared = (schema: Schema): string =>
  typeDeclarations(document({ Thing: schema }), { schemas: ['Thing'], queries: {} }).trim();

describe('the declarations of an OpenAPI document', () => {
  it('have the types of its schemas', () => {
    for (const [schema, type] of [
      [{ type: 'integer' }, 'number'],
      [{ const: "it's" }, "'it\\'s'"],
      [{ enum: ['a', 1] }, "'a' | 1"],
      [{ $ref: '#/components/schemas/Other' }, 'Other'],
      [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, 'string | null'],
      [{ type: 'array', items: { enum: ['a', 'b'] } }, "('a' | 'b')[]"],
      [{ type: 'array', items: { type: 'number' }, minItems: 2, maxItems: 2 }, '[number, number]'],
      [{ type: 'object', additionalProperties: { type: 'string' } }, 'Record<string, string>'],
      [{ type: 'object' }, 'Record<string, unknown>'],
    ] as const) {
      expect(declared(schema)).to.equal(`export type Thing = ${type};`);
    }
  });

  it('have comments, and optional members', () => {
    const properties = { a: { type: 'string', description: 'Of */ it.' }, b: { type: 'boolean' } };
    expect(declared({ type: 'object', properties, required: ['a'], description: 'A thing.' })).to.equal(
      '/** A thing. */\nexport interface Thing {\n  /** Of * / it. */\n  a: string;\n  b?: boolean;\n}',
    );
  });

  it('have the parameters of a query, without those that bypass caches', () => {
    const text = typeDeclarations(document({}), { schemas: [], queries: { PodQuery: '/pods' } });
    expect(text).to.include('  /** A text. */\n  readonly q?: string | undefined;\n');
    expect(text).to.include('  readonly names?: readonly string[] | undefined;\n');
    expect(text).not.to.match(/ t\?|If-None-Match/);
  });

  it('are rejected for schemas and paths that are missing or have no type', () => {
    expect(() => declared({})).to.throw('a schema without a type: {}');
    expect(() => typeDeclarations(document({}), { schemas: ['None'], queries: {} })).to.throw('None');
    expect(() => typeDeclarations(document({}), { schemas: [], queries: { A: '/none' } })).to.throw('/none');
  });
});
