// Runs the stages of `npm test`.
import { messageOf } from '../../apis/reading/thrown-value.ts';
import { type FinishedStage, failedWith, type Stage, type StageContext } from './stage.ts';

/**
 * Runs the gates in parallel, then the suites. A suite starts when the last process of the one before has started, unless one of
 * them must run alone. A failure does not skip later stages.
 */
export async function runStages(
  stages: readonly Stage[],
  options: Omit<StageContext, 'lastStarted'>,
): Promise<FinishedStage[]> {
  const gates = await Promise.all(
    stages
      .filter(({ kind }) => kind === 'gate')
      .map((stage) => runStage(stage, { ...options, lastStarted: () => undefined })),
  );
  const suites: Promise<FinishedStage>[] = [];
  for (const stage of stages.filter(({ kind }) => kind === 'suite')) {
    if (stage.isAlone) await Promise.all(suites);
    options.progress(`\n── ${stage.name} ──`);
    const { promise: started, resolve: lastStarted } = Promise.withResolvers<void>();
    const suite = runStage(stage, { ...options, lastStarted });
    suites.push(suite);
    await (stage.isAlone ? suite : Promise.race([started, suite]));
  }
  return [...gates, ...(await Promise.all(suites))];
}

/** A stage that throws or is interrupted has failed. */
async function runStage(stage: Stage, context: StageContext): Promise<FinishedStage> {
  const began = performance.now();
  let result: Awaited<ReturnType<Stage['run']>>;
  try {
    result = await stage.run(context);
  } catch (error) {
    result = failedWith(messageOf(error));
  }
  const finished = { ...result, stage, seconds: (performance.now() - began) / 1000 };
  if (stage.kind === 'gate') {
    context.progress(
      `${stage.name} ${result.tally.failed > 0 ? 'failed' : 'passed'} (${finished.seconds.toFixed(1)} s)`,
    );
  }
  return finished;
}
