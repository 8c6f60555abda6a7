import { Type } from 'typebox';

/** What this server reads of an object's metadata, and what it has to write back so that it stays. */
export const ObjectMetadataSchema = Type.Object({
  name: Type.String(),
  uid: Type.Optional(Type.String()),
  resourceVersion: Type.Optional(Type.String()),
  generation: Type.Optional(Type.Integer()),
  creationTimestamp: Type.Optional(Type.String({ format: 'date-time' })),
  deletionTimestamp: Type.Optional(Type.String({ format: 'date-time' })),
  finalizers: Type.Optional(Type.Array(Type.String())),
  ownerReferences: Type.Optional(Type.Array(Type.Object({}, { additionalProperties: true }))),
  labels: Type.Optional(Type.Object({}, { additionalProperties: Type.String() })),
  annotations: Type.Optional(Type.Object({}, { additionalProperties: Type.String() })),
});
