import { Type } from 'typebox';

/** What this server reads of an object's metadata; whatever else is there is kept. */
export const ObjectMetadataSchema = Type.Object({
  name: Type.String(),
  uid: Type.Optional(Type.String()),
  resourceVersion: Type.Optional(Type.String()),
  generation: Type.Optional(Type.Integer()),
  creationTimestamp: Type.Optional(Type.String({ format: 'date-time' })),
  deletionTimestamp: Type.Optional(Type.String({ format: 'date-time' })),
  labels: Type.Optional(Type.Object({}, { additionalProperties: Type.String() })),
  annotations: Type.Optional(Type.Object({}, { additionalProperties: Type.String() })),
});
