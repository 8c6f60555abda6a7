// Runs the stages of `npm test`.
import { messageOf } from '../../apis/reading/thrown-value.ts';
import { type FinishedStage, failedWith, type Stage, type StageContext } from './stage.ts';

/** A stage starts when the last process of the one before has started. A failure does not skip later stages. */
export async function runStages(
  stages: readonly Stage[],
  options: Omit<StageContext, 'lastStarted'>,
): Promise<FinishedStage[]> {
  const finished: Promise<FinishedStage>[] = [];
  for (const stage of stages) {
    if (stage.kind === 'suite') options.progress(`\n── ${stage.name} ──`);
    const { promise: started, resolve: lastStarted } = Promise.withResolvers<void>();
    const running = runStage(stage, { ...options, lastStarted });
    finished.push(running);
    await Promise.race([started, running]);
  }
  return Promise.all(finished);
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
  const finished = { seconds: (performance.now() - began) / 1000, ...result, stage };
  if (stage.kind === 'gate') {
    context.progress(
      `${stage.name} ${result.tally.failed > 0 ? 'failed' : 'passed'} (${finished.seconds.toFixed(1)} s)`,
    );
  }
  return finished;
}
