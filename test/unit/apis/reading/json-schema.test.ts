// Tests of the functions that create JSON Schemas, compared with TypeBox.
import { expect } from 'chai';
import * as TypeBox from 'typebox';
import { Type } from '../../../../apis/reading/json-schema.ts';

/** Schemas by the function that they need most. */
function schemas(type: Pick<typeof TypeBox.Type, keyof typeof Type>): Record<keyof typeof Type, unknown> {
  const options = { description: 'Text.', default: 'a' };
  return {
    Array: [type.Array(type.String()), type.Array(type.Integer(), { maxItems: 2 })],
    Boolean: [type.Boolean(), type.Boolean({ default: true })],
    Enum: [type.Enum(['a', 'b']), type.Enum(['a', 'b'], options)],
    Integer: [type.Integer(), type.Integer({ minimum: 1 })],
    Literal: [type.Literal('a'), type.Literal(1), type.Literal(true, options)],
    Null: [type.Null(), type.Null(options)],
    Number: [type.Number(), type.Number({ maximum: 1 })],
    Object: [
      type.Object({}),
      type.Object({ a: type.String(), b: type.Optional(type.Object({ c: type.Null() })) }),
      type.Object({ a: type.Optional(type.String()) }, { additionalProperties: false, ...options }),
    ],
    Optional: [type.Optional(type.String(options)), type.Object({ a: { ...type.Optional(type.String()) } })],
    Record: type.Record(type.String({ pattern: '^[a-z]$' }), type.String(), options),
    Ref: [type.Ref('#/a'), type.Ref('#/a', options)],
    String: [type.String(), type.String({ pattern: '^a$', ...options })],
    Union: [type.Union([type.String(), type.Null()]), type.Union([type.String()], options)],
    Unsafe: [type.Unsafe({ type: ['string', 'integer'] }), type.Object({ a: type.Unsafe(options) })],
  };
}

describe('Type', () => {
  const expected = schemas(TypeBox.Type);
  const actual = schemas(Type);

  for (const [name, schema] of Object.entries(actual)) {
    it(`creates the schemas of ${name} in the same text as TypeBox`, () => {
      expect(JSON.stringify(schema)).to.equal(JSON.stringify(expected[name as keyof typeof expected]));
    });
  }

  it('does not change the schema that it makes optional', () => {
    const schema = Type.String();
    Type.Optional(schema);
    expect(Type.Object({ schema }).required).to.deep.equal(['schema']);
  });
});
