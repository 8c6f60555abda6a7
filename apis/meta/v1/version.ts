// The JSON Schema of version.Info, the response of /version.
import type { Static } from 'typebox';
import { Type } from '../../reading/json-schema.ts';

const text = (description: string) => Type.String({ description });

const INFO = {
  major: Type.String(),
  minor: Type.String(),
  gitVersion: text('Semantic version with a "v" in front.'),
  gitCommit: text('Empty if unknown.'),
  gitTreeState: Type.String(),
  buildDate: text('ISO 8601, or empty.'),
  goVersion: text('Empty for this server: clients expect the member.'),
  compiler: Type.String(),
  platform: text('Operating system and architecture, for instance linux/amd64.'),
};

const KubernetesVersionSchema = Type.Object(INFO, {
  description:
    'The version of kube-apiserver. Absent if it is unavailable, or if the caller has no permission to get it.',
});

/** version.Info of Kubernetes, as kubectl and client-go read it. */
const VersionSchema = Type.Object(
  { ...INFO, nodeVersion: Type.String(), kubernetes: Type.Optional(KubernetesVersionSchema) },
  { additionalProperties: false },
);

export type KubernetesVersion = Readonly<Static<typeof KubernetesVersionSchema>>;
export type Version = Readonly<Static<typeof VersionSchema>>;
