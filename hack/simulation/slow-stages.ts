// Stages of KWOK for pods that start, and complete, as slowly as real ones. Other pods do so at once, which tests need.
import { parseAllDocuments } from 'yaml';
import { array, record, recordIn, text } from '../../apis/reading/unknown-value.ts';

const ANNOTATION = 'simulation.example.com/start';

/** Annotations of a pod that starts slowly. */
export const START_SLOWLY = { [ANNOTATION]: 'slow' } as const;
/** The annotation of other pods, so that an applied template removes START_SLOWLY. */
export const START_AT_ONCE = { [ANNOTATION]: 'fast' } as const;

/** The shortest and the longest delay, in ms. */
const DELAYS: Readonly<Record<string, readonly [number, number]>> = {
  'pod-ready': [2_000, 6_000],
  'pod-complete': [4_000, 10_000],
};

/** Copies of KWOK's own stages. Their weight lets them win against the originals, which have none. */
export function slowStages(stages: string): object[] {
  return parseAllDocuments(stages).flatMap((document) => {
    const stage = record(document.toJS());
    const spec = recordIn(stage, 'spec');
    const name = text(recordIn(stage, 'metadata')['name']);
    const delay = DELAYS[name];
    if (delay === undefined) return [];
    const [durationMilliseconds, jitterDurationMilliseconds] = delay;
    const { matchExpressions } = recordIn(spec, 'selector');
    return {
      ...stage,
      metadata: { name: `${name}-slowly` },
      spec: {
        ...spec,
        selector: { matchExpressions: array(matchExpressions), matchAnnotations: START_SLOWLY },
        weight: 1,
        delay: { durationMilliseconds, jitterDurationMilliseconds },
      },
    };
  });
}
