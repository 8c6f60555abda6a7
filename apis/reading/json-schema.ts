// JSON Schemas with the static types of TypeBox. TypeBox itself is not loaded: its 370 modules take 0.1 s of CPU at each start, and
// the schemas of this project need only these functions. A unit test compares them with TypeBox.
import type * as TypeBox from 'typebox';

type Keywords = Readonly<Record<string, unknown>>;

/** Marks an optional property, as in TypeBox. Not enumerable, because it is no keyword. */
const OPTIONAL = '~optional';

const typed =
  (type: string) =>
  (options?: Keywords): Keywords => ({ type, ...options });

/** Gives the functions the types of those of TypeBox. */
function asTypeBox<Name extends keyof typeof TypeBox.Type>(
  functions: Readonly<Record<Name, unknown>>,
): Pick<typeof TypeBox.Type, Name> {
  return functions as Pick<typeof TypeBox.Type, Name>;
}

export const Type = asTypeBox({
  Array: (items: Keywords, options?: Keywords) => ({ type: 'array', items, ...options }),
  Boolean: typed('boolean'),
  Enum: (values: readonly unknown[], options?: Keywords) => ({ enum: values, ...options }),
  Integer: typed('integer'),
  Literal: (value: unknown, options?: Keywords) => ({ type: typeof value, const: value, ...options }),
  Null: typed('null'),
  Number: typed('number'),
  Object: (properties: Readonly<Record<string, Keywords>>, options?: Keywords) => {
    const required = Object.keys(properties).filter((name) => properties[name]?.[OPTIONAL] !== true);
    return { type: 'object', ...(required.length > 0 ? { required } : {}), properties, ...options };
  },
  Optional: (schema: Keywords) => Object.defineProperty({ ...schema }, OPTIONAL, { value: true }),
  Record: ({ pattern }: { readonly pattern: string }, value: Keywords, options?: Keywords) => ({
    type: 'object',
    patternProperties: { [pattern]: value },
    ...options,
  }),
  Ref: ($ref: string, options?: Keywords) => ({ $ref, ...options }),
  String: typed('string'),
  Union: (anyOf: readonly Keywords[], options?: Keywords) => ({ anyOf, ...options }),
  Unsafe: (schema: Keywords) => ({ ...schema }),
});
