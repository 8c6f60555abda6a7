// The TypeBox schema of version.Info, the response of /version.
import { type Static, Type } from 'typebox';

const text = (description: string) => Type.String({ description });

/** version.Info of Kubernetes, as kubectl and client-go read it. */
export const VersionSchema = Type.Object(
  {
    major: Type.String(),
    minor: Type.String(),
    gitVersion: text('Semantic version with a "v" in front.'),
    gitCommit: text('Empty if unknown.'),
    gitTreeState: Type.Enum(['', 'clean']),
    buildDate: text('ISO 8601, or empty.'),
    goVersion: text('Empty: clients expect the member.'),
    compiler: Type.String(),
    platform: text('Operating system and architecture, for instance linux/amd64.'),
    nodeVersion: Type.String(),
  },
  { additionalProperties: false },
);

export type Version = Readonly<Static<typeof VersionSchema>>;
